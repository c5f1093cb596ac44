"""A module's state dict: its tensors by dotted name, written and read module by module.

The protocol is PyTorch's, for programs take part in it: `_save_to_state_dict` and
`_load_from_state_dict` of a class, hooks before and after each, `get_extra_state`. Loading checks
all modules before it copies, unless hooks want to see what was loaded.
"""

import functools
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import dispatch
from dispatch._C.advice import advise
from dispatch.as_torch.nn.modules.hooks import RemovableHandle, enter
from dispatch.as_torch.nn.parameter import Parameter, is_lazy

__all__ = ["STATE_ROOMS", "State"]

STATE_ROOMS = (
    "_state_dict_hooks", "_state_dict_pre_hooks", "_load_state_dict_pre_hooks",
    "_load_state_dict_post_hooks",
)  # fmt: skip
_EXTRA = "_extra_state"


class _Keys(NamedTuple):
    """What `load_state_dict` did not find, and what it found beside."""

    missing_keys: list[str]
    unexpected_keys: list[str]

    def __repr__(self) -> str:
        if not any(self):
            return "<All keys matched successfully>"
        missing, unexpected = self
        return f"_IncompatibleKeys(missing_keys={missing}, unexpected_keys={unexpected})"


class _Problems(list[str]):
    """What went wrong while loading, and, until all is checked, what is to be copied."""

    copies: list[Callable[[], None]] | None = None


class State:
    """The part of `Module` that writes and reads state dicts."""

    _version: int = 1
    _parameters: dict[str, Any]
    _buffers: dict[str, Any]
    _modules: dict[str, Any]
    _non_persistent_buffers_set: set[str]
    _state_dict_hooks: OrderedDict[int, Any]
    _state_dict_pre_hooks: OrderedDict[int, Any]
    _load_state_dict_pre_hooks: OrderedDict[int, Any]
    _load_state_dict_post_hooks: OrderedDict[int, Any]

    def get_extra_state(self) -> Any:
        """What a state dict holds of this module beside tensors; for the subclass to write."""
        raise RuntimeError(
            f"{type(self).__name__}: get_extra_state is called by no module that does not write it"
        )

    def set_extra_state(self, state: Any) -> None:
        """Take what `get_extra_state` gave; for the subclass to write."""
        raise RuntimeError(
            f"{type(self).__name__}: a state dict has extra state, and there is no set_extra_state"
        )

    # ---- writing

    def state_dict(
        self, *args: Any, destination: Any = None, prefix: str = "", keep_vars: bool = False
    ) -> dict[str, Any]:
        """The tensors by dotted name, without the buffers that do not persist.

        Args: destination, a dict to write into; prefix, before each name; keep_vars, parameters
        themselves rather than their detached tensors.
        """
        if args:
            advise("state_dict: give its arguments by keyword", FutureWarning)
        for name, given in zip(("destination", "prefix", "keep_vars"), args, strict=False):
            destination = given if name == "destination" else destination
            prefix = given if name == "prefix" else prefix
            keep_vars = given if name == "keep_vars" else keep_vars
        if destination is None:
            destination = OrderedDict()
            destination._metadata = OrderedDict()
        metadata: dict[str, Any] = {"version": self._version}
        if hasattr(destination, "_metadata"):
            destination._metadata[prefix[:-1]] = metadata
        for hook in self._state_dict_pre_hooks.values():
            hook(self, prefix, keep_vars)
        self._save_to_state_dict(destination, prefix, keep_vars)
        for name, module in self._modules.items():
            if module is not None:
                module.state_dict(
                    destination=destination, prefix=f"{prefix}{name}.", keep_vars=keep_vars
                )
        for hook in self._state_dict_hooks.values():
            changed = hook(self, destination, prefix, metadata)
            if getattr(hook, "_from_public_api", False):
                if changed is not None:
                    raise RuntimeError("state_dict post-hook must return None")
            elif changed is not None:
                destination = changed
        found: dict[str, Any] = destination
        return found

    def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
        hidden = self._non_persistent_buffers_set
        for name, value in (*self._parameters.items(), *self._buffers.items()):
            if value is not None and name not in hidden:
                destination[prefix + name] = (
                    value if keep_vars or is_lazy(value) else value.detach()
                )
        if type(self).get_extra_state is not State.get_extra_state:
            destination[prefix + _EXTRA] = self.get_extra_state()

    # ---- reading

    def load_state_dict(
        self, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False
    ) -> Any:
        """Copy the tensors of `state_dict` into this module's, or with `assign` put them there.

        Returns: (missing_keys, unexpected_keys). Raises: TypeError for what is no dict;
        RuntimeError for sizes that differ, and with `strict` for names that do; nothing is changed
        then.
        """
        given_kind: Any = type(state_dict)
        if not issubclass(given_kind, Mapping):
            name = given_kind.__name__
            raise TypeError(f"load_state_dict: expected a dict of tensors, got {name}")
        metadata = getattr(state_dict, "_metadata", None)
        given = OrderedDict(state_dict)
        keys, problems = _Keys([], []), _Problems()
        modules = [m for _, m in self.named_modules(remove_duplicate=False)]  # type: ignore[attr-defined]
        if not any(m._load_state_dict_post_hooks for m in modules):
            problems.copies = []
        _load(self, given, "", metadata, assign, keys, problems)
        if strict:
            for names, kind in zip(reversed(keys), ("Unexpected", "Missing"), strict=True):
                if names:
                    shown = ", ".join(f'"{name}"' for name in names)
                    problems.insert(0, f"{kind} key(s) in state_dict: {shown}. ")
        if problems:
            lines = "\n\t".join(problems)
            raise RuntimeError(
                f"Error(s) in loading state_dict for {type(self).__name__}:\n\t{lines}"
            )
        for copy in problems.copies or ():
            copy()
        return keys

    def _load_from_state_dict(
        self, state_dict: Any, prefix: str, local_metadata: Any, strict: bool,
        missing_keys: list[str], unexpected_keys: list[str], error_msgs: list[str],
    ) -> None:  # fmt: skip
        """This module's own tensors, not those of modules inside."""
        for hook in self._load_state_dict_pre_hooks.values():
            hook(
                state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys,
                error_msgs,
            )  # fmt: skip
        copies = getattr(error_msgs, "copies", None)
        assign = local_metadata.get("assign_to_params_buffers", False)
        own = {
            name: value
            for name, value in (*self._parameters.items(), *self._buffers.items())
            if value is not None and name not in self._non_persistent_buffers_set
        }
        for name, value in own.items():
            key = prefix + name
            if key not in state_dict:
                if strict:
                    missing_keys.append(key)
                continue
            problem = _problem(key, value, state_dict[key])
            if problem is not None:
                error_msgs.append(problem)
            else:
                copy = functools.partial(self._take, name, state_dict[key], assign)
                copy() if copies is None else copies.append(copy)
        self._load_extra(state_dict, prefix, strict, missing_keys, unexpected_keys)
        if strict:
            wanted = {prefix + name for name in (*own, _EXTRA)}
            for key in state_dict:
                if key.startswith(prefix) and key not in wanted:
                    inner, dot, _ = key[len(prefix) :].partition(".")
                    if not dot or inner not in self._modules:
                        unexpected_keys.append(key)

    def _take(self, name: str, given: Any, assign: bool) -> None:
        """Copy a tensor into this module's, or put it there."""
        room = self._parameters if name in self._parameters else self._buffers
        value = room[name]
        if assign:
            if isinstance(value, Parameter) and not isinstance(given, Parameter):
                given = Parameter(given, value.requires_grad)
            setattr(self, name, given)
            return
        with dispatch.no_grad():
            if is_lazy(value) and not is_lazy(given):
                value.materialize(given.shape)
            value.copy_(given)

    def _load_extra(
        self, state_dict: Any, prefix: str, strict: bool, missing: list[str], unexpected: list[str]
    ) -> None:
        key = prefix + _EXTRA
        if type(self).set_extra_state is not State.set_extra_state:
            if key in state_dict:
                self.set_extra_state(state_dict[key])
            elif strict:
                missing.append(key)
        elif strict and key in state_dict:
            unexpected.append(key)

    # ---- hooks

    def _register_state_dict_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        if getattr(hook, "_from_public_api", False):
            raise RuntimeError("a hook of register_state_dict_post_hook is entered by that alone")
        return enter(self._state_dict_hooks, hook)

    def register_state_dict_post_hook(self, hook: Callable[..., None]) -> RemovableHandle:
        """`hook(module, state_dict, prefix, local_metadata)` after it is written; returns None."""
        hook._from_public_api = True  # type: ignore[attr-defined]
        return enter(self._state_dict_hooks, hook)

    def register_state_dict_pre_hook(self, hook: Callable[..., None]) -> RemovableHandle:
        """`hook(module, prefix, keep_vars)` before it is written."""
        return enter(self._state_dict_pre_hooks, hook)

    def _register_load_state_dict_pre_hook(
        self, hook: Callable[..., None], with_module: bool = False
    ) -> RemovableHandle:
        bound = functools.partial(hook, self) if with_module else hook
        return enter(self._load_state_dict_pre_hooks, bound)

    def register_load_state_dict_pre_hook(self, hook: Callable[..., None]) -> RemovableHandle:
        """`hook(module, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys,
        error_msgs)` before it is read."""
        return self._register_load_state_dict_pre_hook(hook, with_module=True)

    def register_load_state_dict_post_hook(self, hook: Callable[..., None]) -> RemovableHandle:
        """`hook(module, incompatible_keys)` after it is read; the lists may be changed."""
        return enter(self._load_state_dict_post_hooks, hook)


def _load(
    module: Any, given: Any, prefix: str, metadata: Any, assign: bool, keys: _Keys,
    problems: _Problems,
) -> None:  # fmt: skip
    local = {} if metadata is None else metadata.get(prefix[:-1], {})
    if assign:
        local["assign_to_params_buffers"] = True
    module._load_from_state_dict(given, prefix, local, True, *keys, problems)
    for name, inner in module._modules.items():
        if inner is not None:
            path = f"{prefix}{name}."
            below = OrderedDict((k, v) for k, v in given.items() if k.startswith(path))
            _load(inner, below, path, metadata, assign, keys, problems)
    for hook in module._load_state_dict_post_hooks.values():
        if hook(module, keys) is not None:
            raise RuntimeError("a load_state_dict post-hook changes the keys in place: return None")


def _problem(key: str, value: Any, given: Any) -> str | None:
    """Why `given` cannot be loaded into `value`."""
    if not isinstance(given, dispatch.Tensor):
        return f'While copying the parameter named "{key}", expected a tensor, got {type(given)}.'
    if is_lazy(value) or given.shape == value.shape:
        return None
    return (
        f"size mismatch for {key}: copying a param with shape {given.shape} from checkpoint, the "
        f"shape in current model is {value.shape}."
    )
