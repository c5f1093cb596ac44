/* The orders that `order.h` has steps for. */
#ifndef DISPATCH_ORDER_OPS_H
#define DISPATCH_ORDER_OPS_H
enum order_op { SORT, TOPK, KTHVALUE, MEDIAN, MODE, ORDER_OPS };
#endif
