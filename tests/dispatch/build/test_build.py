"""`dispatch.build`: modules are found by rule, and built again only when contents changed."""

import fcntl
import os
import re
import shutil
import sys
from pathlib import Path

import pytest
from Cython.Utils import clear_function_caches
from setuptools import Distribution
from setuptools.errors import CompileError, PlatformError

import dispatch
from dispatch import build
from dispatch.build import compiling, finding, progress

pytestmark = pytest.mark.skipif(not shutil.which("gcc"), reason="needs gcc")


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package `shop` with one module that reads a constant from its `.pxd`."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(finding, "generate", lambda argv: 0)
    monkeypatch.setattr(progress, "_PAUSE", 0)
    folder = tmp_path / "shop"
    folder.mkdir()
    for name, text in {
        "__init__.py": "",
        "__init__.pxd": "",
        "price.pxd": "cdef inline int price() noexcept:\n    return 1\n",
        "till.pyx": "from shop.price cimport price\ndef pay(): return price()\n",
    }.items():
        (folder / name).write_text(text)
    return folder


def run_build():
    extensions = build.extensions("schemas", "shop")
    command = build.BuildExt(Distribution({"packages": ["shop"], "ext_modules": extensions}))
    command.inplace = True
    # One tree is kept for each process, and what files held.
    compiling.create_dependency_tree.__globals__["_dep_tree"] = None
    clear_function_caches()
    compiling._used_by.cache_clear()
    compiling._pxd.cache_clear()
    command.ensure_finalized()
    command.run()


def steps(capfd):
    """What the build says that it did."""
    return re.findall(r"\[0 of 1\] (\w+ [\w.]+)\n", capfd.readouterr().out)


@pytest.mark.parametrize(
    "till",
    [
        "from shop.price cimport price\ndef pay(): return price()\n",
        "from shop cimport price as prices\ndef pay(): return prices.price()\n",
        "from shop cimport price\nfrom libc.math cimport (\n    sin, cos,\n)\n"
        "def pay(): return price.price()\n",
        "from . cimport (\n    price,  # no other\n)\ndef pay(): return price.price()\n",
    ],
)
def test_build_follows_contents(package, capfd, till):
    (package / "till.pyx").write_text(till)
    run_build()
    assert steps(capfd) == ["cythonizing shop.till", "compiling shop.till"]
    assert list(package.glob("till*.so"))
    for path in package.iterdir():
        os.utime(path)
    run_build()
    assert capfd.readouterr().out == ""
    price = package / "price.pxd"
    price.write_text(price.read_text().replace("1", "2"))
    run_build()
    assert steps(capfd) == ["cythonizing shop.till", "compiling shop.till"]


def test_build_follows_a_package_that_is_cimported(package, capfd):
    """`shop/cost/__init__.pxd` is the module `cost` too."""
    (package / "cost").mkdir()
    face = (package / "price.pxd").rename(package / "cost" / "__init__.pxd")
    (package / "cost" / "__init__.py").write_text("")
    (package / "till.pyx").write_text("from shop cimport cost\ndef pay(): return cost.price()\n")
    run_build()
    capfd.readouterr()
    face.write_text(face.read_text().replace("1", "2"))
    run_build()
    assert steps(capfd) == ["cythonizing shop.till", "compiling shop.till"]


def test_headers_are_read_where_they_stand(package):
    """Cython's copies of them would be taken for ours by compilers at work."""
    (package / "generated").mkdir()
    (package / "generated" / "price.h").write_text("static int price(void) { return 1; }\n")
    extern = 'cdef extern from "price.h":\n    int price() noexcept\n'
    (package / "price.pxd").write_text(extern)
    run_build()
    assert not list(Path("build").rglob("*.h"))
    assert "shop/generated/price.h" in next(Path("build").rglob("till.d")).read_text()


def test_the_users_flags_come_last(package, monkeypatch, capfd):
    """So they win over ours, and other flags compile again."""
    run_build()
    capfd.readouterr()
    monkeypatch.setenv("CFLAGS", "-O0 -DNAME='a b'")
    run_build()
    assert steps(capfd) == ["compiling shop.till"]
    assert build.extensions("schemas", "shop")[0].extra_compile_args[-2:] == ["-O0", "-DNAME=a b"]


def test_rooms_off_the_call_path_are_compiled_in_less_time(monkeypatch):
    monkeypatch.chdir(finding._DISPATCH.parent)

    def level(module):
        flags = finding._extension(Path(module), Path(), Path("dispatch/_C/generated"))
        return [f for f in flags.extra_compile_args if f.startswith("-O")][-1]

    assert level("dispatch/kernels/meta/join/joining.pyx") == "-O1"
    assert level("dispatch/_C/dispatcher.pyx") == "-O2"
    assert level("dispatch/kernels/cpu/join/joining.pyx") == "-O2"
    assert level("shop/kernels/meta/join/joining.pyx") == "-O2"


def test_without_a_compiler_the_build_says_what_to_install(package, monkeypatch):
    monkeypatch.setenv("CC", "no-such-compiler -pthread")
    with pytest.raises(PlatformError, match=r"no C compiler 'no-such-compiler'.*build-essential"):
        run_build()


def test_without_pythons_headers_the_build_says_what_to_install(package, monkeypatch):
    monkeypatch.setattr(compiling, "_PYTHON_INCLUDE", "/nowhere")
    monkeypatch.setattr(compiling.sysconfig, "get_path", lambda name: "/nowhere/at/all")
    with pytest.raises(PlatformError, match=r"in /nowhere or /nowhere/at/all.*python3\.\d+-dev"):
        run_build()


@pytest.mark.parametrize("named", [False, True])
def test_ccache_is_used_where_it_is_there_and_cc_is_not_set(package, monkeypatch, tmp_path, named):
    ccache = tmp_path / "bin" / "ccache"
    ccache.parent.mkdir()
    ccache.write_text('#!/bin/sh\necho "$@" >> ccache.log\nexec "$@"\n')
    ccache.chmod(0o755)
    monkeypatch.setenv("PATH", f"{ccache.parent}:{os.environ['PATH']}")
    monkeypatch.delenv("CC", raising=False)
    if named:
        monkeypatch.setenv("CC", "gcc")
    run_build()
    log = Path("ccache.log")
    assert log.exists() is not named
    assert named or "till.c" in log.read_text()


def test_failure_names_the_module(package):
    (package / "till.pyx").write_text("def pay(: return\n")
    with pytest.raises(CompileError, match=r"shop\.till"):
        run_build()


def test_what_could_be_built_is_put_into_place(package):
    (package / "broken.pyx").write_text("def pay(: return\n")
    with pytest.raises(CompileError, match=r"1 of 2 modules: shop\.broken"):
        run_build()
    assert list(package.glob("till*.so"))
    assert not list(package.glob("broken*.so"))


def test_without_the_extra_the_room_exists_and_says_what_is_missing(monkeypatch):
    monkeypatch.delitem(sys.modules, "dispatch.build.compiling")
    monkeypatch.setitem(sys.modules, "Cython", None)
    assert hasattr(dispatch, "build")
    with pytest.raises(ImportError, match=r"needs Cython: pip install 'tensor-dispatch\[build\]'"):
        dispatch.build.BuildExt  # noqa: B018
    with pytest.raises(AttributeError, match="no attribute 'BuildFoo'"):
        dispatch.build.BuildFoo  # noqa: B018


def test_missing_package_is_named(package):
    with pytest.raises(FileNotFoundError, match="nowhere"):
        build.extensions("schemas", "nowhere")


def test_generator_failure_ends_the_build(package, monkeypatch):
    monkeypatch.setattr(finding, "generate", lambda argv: 2)
    with pytest.raises(SystemExit):
        build.extensions("schemas", "shop")


def test_a_build_waits_for_another_in_its_folder(package, monkeypatch, caplog):
    run_build()
    folder = next(Path("build").glob("temp*"))
    asked = []
    with (folder / ".lock").open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)

        def flock(lock, how):
            asked.append(how)
            if len(asked) == 2:  # it would wait now
                fcntl.flock(held, fcntl.LOCK_UN)
            real(lock, how)

        real = fcntl.flock
        monkeypatch.setattr(compiling.fcntl, "flock", flock)
        run_build()
    assert asked[0] == fcntl.LOCK_EX | fcntl.LOCK_NB
    assert "another build is at work here" in caplog.text


def test_a_linker_that_is_killed_leaves_no_module(package, monkeypatch):
    def killed(compiler, objects, target, **options):
        Path(target).write_bytes(b"half")
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("distutils.ccompiler.CCompiler.link_shared_object", killed)
        with pytest.raises(BaseException):  # noqa: B017
            run_build()
    assert not list(package.glob("till*.so"))
    run_build()
    assert next(package.glob("till*.so")).read_bytes() != b"half"


@pytest.mark.parametrize("step", ["_cythonize", "compile"])
def test_a_build_that_is_killed_and_taken_back_starts_again(package, monkeypatch, capfd, step):
    """What is half written for a change does not pass for what was there before it."""
    run_build()
    price = package / "price.pxd"
    old = price.read_text()
    price.write_text(old.replace("1", "2"))
    with monkeypatch.context() as patched:
        if step == "compile":
            patched.setattr("distutils.ccompiler.CCompiler.compile", _killed)
        else:
            patched.setattr(compiling, "_cythonize", _killed)
        with pytest.raises(BaseException):  # noqa: B017
            run_build()
    price.write_text(old)
    capfd.readouterr()
    run_build()
    assert "shop.till" in capfd.readouterr().out


def _killed(*args, **kwargs):
    raise KeyboardInterrupt
