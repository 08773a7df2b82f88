"""Classes of controllers and estimators: found by name, identified by source, sent to other processes."""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import inspect
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import tomli_w

from multihop._core import (
    CONTROLLER_METHODS,
    ESTIMATOR_METHODS,
    HEADER_MOST,
    Controller,
    Estimator,
    RouterPolicy,
)
from multihop.base.errors import UserError, instead_of

#: Base classes, with the methods of which their subclasses define at least one.
_BASES: tuple[tuple[type, list[str]], ...] = (
    (Controller, CONTROLLER_METHODS),
    (Estimator, ESTIMATOR_METHODS),
)

#: Prefix of the names of classes that were given as objects.
_GIVEN = "object:"


class ClassError(ValueError):
    """Class that cannot be used. The engine makes a message of the scenario from it."""

    def __init__(self, found: str, remedy: str, key: str = "class") -> None:
        super().__init__(f"{key}: {found}; {remedy}")
        self.found = found
        self.remedy = remedy
        self.key = key


@dataclass(frozen=True)
class Given:
    """Class that was given as an object, by value."""

    #: Name in scenarios.
    name: str
    #: The class, pickled by cloudpickle.
    content: bytes


#: Classes that were given as objects, by name, and their pickles.
_given: dict[str, tuple[type, Given]] = {}

#: Loaded files: time of change, size, digest and module.
_files: dict[Path, tuple[tuple[int, int], str, ModuleType]] = {}


@dataclass(frozen=True)
class Found:
    """Class of a controller, for the engine."""

    object: type[Controller]
    #: Digest of its source.
    digest: str
    #: Estimators that it names, as TOML.
    estimators: str | None
    #: Bytes of its own congestion header.
    header_bytes: int
    #: Class of its router policy, and the estimators of that as TOML.
    router: type[RouterPolicy] | None
    router_estimators: str | None


def find(name: str, folder: str, arguments: Mapping[str, Any], *, checked: bool = True) -> Found:
    """Finds the class of a controller.

    Args:
        name: `file.py:Class`, `package.module:Class`, or a name from `give`.
        folder: folder to which names of files are relative.
        arguments: keyword arguments for the class.
        checked: whether it must take the arguments.

    Raises:
        ClassError: if there is no such class, it is no controller, or it does not take the arguments.
    """
    found, digest = _located(name, folder, Controller)
    if checked:
        _check_arguments(found, arguments)
    router = getattr(found, "router", None)
    return Found(found, digest, _estimators(found), _header_bytes(found), router, _estimators(router))


def find_estimator(name: str, folder: str, arguments: Mapping[str, Any]) -> tuple[type[Estimator], str]:
    """Finds the class of an estimator, and the digest of its source.

    Args:
        name: `file.py:Class`, `package.module:Class`, or a name from `give`.
        folder: folder to which names of files are relative.
        arguments: keyword arguments for the class.

    Raises:
        ClassError: if there is no such class, it is no estimator, or it does not take the arguments.
    """
    found, digest = _located(name, folder, Estimator)
    _check_arguments(found, arguments)
    return found, digest


def _located(name: str, folder: str, base: type) -> tuple[Any, str]:
    """Returns a subclass of this base class by its name, and the digest of its source."""
    if name in _given:
        found: Any = _given[name][0]
        digest = name.rpartition(" ")[2]
    else:
        place, colon, attribute = name.rpartition(":")
        if not colon or not attribute:
            raise ClassError(f'found "{name}"', 'needs a file or a module and a class, as in "my.py:MyScheme"')
        module, digest = _file(Path(folder, place)) if place.endswith(".py") else _module(place)
        found = getattr(module, attribute, None)
        if found is None:
            known = [each for each, value in vars(module).items() if _is_subclass(value, base)]
            raise ClassError(f'found "{name}", but {place} has no {attribute}', _instead(attribute, known, base))
    check(found, name, base)
    return found, digest


def _is_subclass(value: object, base: type) -> bool:
    return isinstance(value, type) and issubclass(value, base) and value is not base


def check(found: object, name: str, base: type | None = None) -> None:
    """Checks that a class can be used.

    Args:
        found: the class.
        name: its name in messages.
        base: class of which it must be a subclass. Default: any base class.

    Raises:
        ClassError: if it is no subclass, or defines no method.
    """
    bases = [(each, methods) for each, methods in _BASES if base in (None, each)]
    fitting = next(((each, methods) for each, methods in bases if _is_subclass(found, each)), None)
    if fitting is None:
        what = "a class" if isinstance(found, type) else type(found).__name__
        wanted = " or ".join(f"multihop.{each.__name__}" for each, _ in bases)
        raise ClassError(f'found "{name}", which is {what}', f"needs a subclass of {wanted}")
    router = getattr(found, "router", None)
    if router is not None and not (isinstance(router, type) and issubclass(router, RouterPolicy)):
        said = f"{name}.router is {getattr(router, '__qualname__', repr(router))}"
        raise ClassError(said, "needs a subclass of multihop.RouterPolicy")
    of_base, methods = fitting
    if all(getattr(found, method) is getattr(of_base, method) for method in methods):
        raise ClassError(f'found "{name}", which defines no method', f"define one of {', '.join(methods)}")


def named(value: Any) -> Any:  # noqa: ANN401 - any value of a scenario
    """Returns a value of a scenario in which names stand for classes.

    Raises:
        UserError: if a class cannot be used.
    """
    if isinstance(value, type):
        try:
            return give(value)
        except ClassError as error:
            raise UserError(f"class: {error.found}; {error.remedy}") from error
    if isinstance(value, Mapping):
        return {key: named(each) for key, each in value.items()}
    return [named(each) for each in value] if isinstance(value, list | tuple) else value


def give(found: type) -> str:
    """Makes a class known by value, and returns its name in scenarios.

    Raises:
        ClassError: if it cannot be used or pickled.
    """
    check(found, found.__qualname__)
    import cloudpickle

    try:
        content = cloudpickle.dumps(found)
    except Exception as error:
        why = f"{type(error).__name__}: {error}"
        message = f'found "{found.__qualname__}", which cannot be sent to other processes ({why})'
        raise ClassError(message, "keep what it uses in modules, or create it in its methods") from error
    digest = hashlib.sha256(_source(found) + content).hexdigest()[:16]
    name = f"{_GIVEN}{found.__qualname__} {digest}"
    _given[name] = found, Given(name, content)
    return name


def given(names: Sequence[str]) -> tuple[Given, ...]:
    """Returns those of these classes that were given as objects, for other processes."""
    return tuple(_given[name][1] for name in names if name in _given)


def variant(scheme: str | type[Controller]) -> tuple[str, dict[str, Any]]:
    """Returns name and settings of a scheme: of a class, a variant of `python`; of a name, no settings.

    Args:
        scheme: name of a scheme; a class; or a name of a class, as in `my.py:MyScheme`.

    Raises:
        UserError: if the class cannot be used.
    """
    if isinstance(scheme, str):
        place, colon, name = scheme.rpartition(":")
        if not colon:
            return scheme, {}
        full = f"{Path(place).resolve()}:{name}" if place.endswith(".py") else scheme
        try:
            found = find(full, "", {}, checked=False).object
        except ClassError as error:
            raise UserError(f"scheme: {error.found}; {error.remedy}") from error
    else:
        try:
            full, found = give(scheme), scheme
        except ClassError as error:
            raise UserError(f"scheme: {error.found}; {error.remedy}") from error
        name = scheme.__name__
    return name, {f"schemes.{name}": {"base": "python", "class": full, **getattr(found, "transport", {})}}


def receive(classes: Sequence[Given]) -> None:
    """Makes classes known that another process was given."""
    import pickle

    for each in classes:
        if each.name not in _given:
            _given[each.name] = pickle.loads(each.content), each


def _source(found: type) -> bytes:
    try:
        return inspect.getsource(found).encode()
    except (OSError, TypeError):
        return b""


def _file(path: Path) -> tuple[ModuleType, str]:
    """Loads a file, again if it has changed. Returns its module and the digest of its text."""
    path = path.resolve()
    try:
        status = path.stat()
        stamp = status.st_mtime_ns, status.st_size
        if path in _files and _files[path][0] == stamp:
            return _files[path][2], _files[path][1]
        text = path.read_bytes()
    except OSError as error:
        raise ClassError(f"{path} cannot be read: {error.strerror}", "name a file with a class") from error
    digest = hashlib.sha256(text).hexdigest()[:16]
    name = f"multihop_class_{path.stem}_{digest}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ClassError(f"{path} cannot be loaded", "name a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        del sys.modules[name]
        raise ClassError(f"{path} raised {_said(error)}", "correct the file") from error
    _files[path] = stamp, digest, module
    return module, digest


def _module(name: str) -> tuple[ModuleType, str]:
    """Imports a module. Returns it and the digest of its source, or of its version if it has no source."""
    try:
        module = importlib.import_module(name)
    except Exception as error:
        raise ClassError(
            f"module {name} raised {_said(error)}", 'install it, or name a file, as in "my.py:MyScheme"'
        ) from error
    try:
        source = inspect.getsource(module).encode()
    except (OSError, TypeError):
        source = str(getattr(module, "__version__", "")).encode()
    return module, hashlib.sha256(source).hexdigest()[:16]


def _said(error: Exception) -> str:
    """Returns type, message and, of an error in a file, the line."""
    trace = error.__traceback__
    line = ""
    while trace is not None:
        line = f" in line {trace.tb_lineno}"
        trace = trace.tb_next
    if isinstance(error, SyntaxError):
        line = f" in line {error.lineno}"
    return f"{type(error).__name__}: {getattr(error, 'msg', error)}{line}"


def _check_arguments(found: type[Controller] | type[Estimator], arguments: Mapping[str, Any]) -> None:
    if found.__init__ is object.__init__:
        if arguments:
            said = f"found {', '.join(arguments)}, but {found.__qualname__} has no __init__ that takes arguments"
            raise ClassError(said, "leave them out, or define __init__", key="arguments")
        return
    try:
        inspect.signature(found.__init__).bind(None, **arguments)
    except TypeError as error:
        said = f"{found.__qualname__}.__init__: {error}"
        raise ClassError(said, "give the arguments that it takes", key="arguments" if arguments else "class") from error


def _header_bytes(found: type[Controller]) -> int:
    given = getattr(found, "header_bytes", 0)
    if isinstance(given, bool) or not isinstance(given, int) or not 0 <= given <= HEADER_MOST:
        said = f"{found.__qualname__}.header_bytes is {given!r}"
        raise ClassError(said, f"needs a whole number from 0 to {HEADER_MOST}")
    return given


def _estimators(found: type[Controller] | type[RouterPolicy] | None) -> str | None:
    listed = getattr(found, "estimators", ())
    return measure_tables(listed) if listed else None


def measure_tables(estimators: Sequence[str | Mapping[str, Any] | type[Estimator]]) -> str:
    """Returns the `[[measure]]` tables of estimators that are given as names, tables or classes."""
    entries = [
        {"estimator": "python", "class": give(each)}
        if isinstance(each, type)
        else {"estimator": each}
        if isinstance(each, str)
        else named(each)
        for each in estimators
    ]
    return tomli_w.dumps({"measure": entries})


def _instead(name: str, known: Sequence[str], base: type) -> str:
    return instead_of(name, known) if known else f"the file has no subclass of multihop.{base.__name__}"
