/* exp of numbers that are not positive, without a branch so that loops over it vectorise: at most 1 ulp off.

   What is so small that a double could not hold it without a loss is 0. Larger arguments work up to where they overflow. */
#ifndef DISPATCH_EXPS_H
#define DISPATCH_EXPS_H
#include "rows.h"
#pragma GCC push_options
#pragma GCC optimize("O3", "no-math-errno", "no-trapping-math", "wrapv")

EACH float exp_f32(float x)
{
    float a = x > 89.0f ? 89.0f : x;
    a = a < -104.0f ? -104.0f : a;
    float shifted = a * 1.44269504088896341f + 12582912.0f, n = shifted - 12582912.0f;
    int32_t whole = (int32_t)(bits_of_f32(shifted) - 0x4b400000u), half = whole >> 1;
    float r = a - n * 0.693145751953125f - n * 1.428606765330187045e-06f;
    float u = 0.000198527617612853646278381f;
    u = u * r + 0.00139304355252534151077271f;
    u = u * r + 0.00833336077630519866943359f;
    u = u * r + 0.0416664853692054748535156f;
    u = u * r + 0.166666671633720397949219f;
    u = u * r + 0.5f;
    u = r * r * u + r + 1.0f;
    return u * f32_of_bits((uint32_t)(half + 127) << 23) * f32_of_bits((uint32_t)(whole - half + 127) << 23);
}

EACH double exp_f64(double x)
{
    double a = x > 709.5 ? 709.5 : x;
    a = a < -708.0 ? -708.0 : a;
    double shifted = a * 1.442695040888963407359924681001892137 + 6755399441055744.0, n = shifted - 6755399441055744.0, scale;
    uint64_t whole;
    memcpy(&whole, &shifted, 8);
    double r = a - n * .69314718055966295651160180568695068359375 - n * .28235290563031577122588448175013436025525412068e-12;
    double u = 2.08860621107283687536341e-09;
    u = u * r + 2.51112930892876518610661e-08;
    u = u * r + 2.75573911234900471893338e-07;
    u = u * r + 2.75572362911928827629423e-06;
    u = u * r + 2.4801587159235472998791e-05;
    u = u * r + 0.000198412698960509205564975;
    u = u * r + 0.00138888888889774492207962;
    u = u * r + 0.00833333333331652721664984;
    u = u * r + 0.0416666666666665047591422;
    u = u * r + 0.166666666666666851703837;
    u = u * r + 0.5;
    u = r * r * u + r + 1.0;
    whole = (whole + 1023) << 52;
    memcpy(&scale, &whole, 8);
    u *= scale;
    return x < -708.0 ? 0.0 : u;
}
#pragma GCC pop_options
#endif
