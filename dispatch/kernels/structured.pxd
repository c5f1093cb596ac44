"""The structured kernel's face under the path that packages of others compile against; it stands in `dispatch._C.structured`."""
from dispatch._C.structured cimport (
    CAST_ANY, CAST_EXACT, CAST_MASK, CAST_SAFE, COPIED, DEVICE_OF_ARGUMENTS, OVERLAP_ANY, OVERLAP_NONE, OVERLAP_SELF, RESTRIDE,
    Spec, can_cast_codes, check_output, init_spec, new_output, prepare_outputs,
)
