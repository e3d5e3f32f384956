"""Launches from Python: results as NumPy has them, and mistakes as exceptions that name the argument."""

from __future__ import annotations

import os
import pickle
import signal
import threading
import time

import envisa
import numpy as np
import pytest

SOURCE = """
kernel void vadd(global const float* a, global const float* b, global float* out, int n) {
    int i = get_global_id(0);
    if (i < n) out[i] = a[i] + b[i];
}
kernel void stray(global float* out, int at) { out[at] = 1; }
kernel void reverse(global const uint* in, global uint* out, local uint* tile) {
    int i = get_local_id(0), n = get_local_size(0);
    tile[i] = in[get_global_id(0)];
    BARRIER
    out[get_global_id(0)] = tile[n - 1 - i];
}
kernel void add4(global float4* v, float4 by) { v[get_global_id(0)] += by; }
kernel void hello(int n) { printf("hello %d\\n", n + (int)get_global_id(0)); }
kernel void wait_for(global volatile int* flag) { while (*flag == 0); }
"""


@pytest.fixture(scope="module")
def module() -> envisa.Module:
    return envisa.Device("dg2").build(SOURCE, "-DBARRIER=barrier(CLK_LOCAL_MEM_FENCE);")


def floats(n: int) -> np.ndarray:
    return np.arange(n, dtype="f4")


def test_results_are_numpys_and_arrays_are_not_copied(module: envisa.Module) -> None:
    a, b, out = floats(1000), np.full(1000, 0.5, "f4"), np.zeros(1000, "f4")
    outcome = module["vadd"][1024, 64](a, b, n=1000, out=out)
    np.testing.assert_array_equal(out, a + b)
    assert outcome.work_items == 1024
    # A view of the middle of another array is reached where it lies.
    whole = np.zeros(3000, "f4")
    module["vadd"][1024, 64](a, b, whole[1000:2000], 1000)
    np.testing.assert_array_equal(whole[1000:2000], a + b)
    assert not whole[:1000].any() and not whole[2000:].any()


def test_arrays_that_are_not_contiguous_are_copied_in_and_out(module: envisa.Module) -> None:
    a, b, out = floats(2000)[::2], floats(3000)[::3], np.zeros(2000, "f4")[::2]
    module["vadd"][1024, 64](a, b, out, 1000)
    np.testing.assert_array_equal(out, a + b)


def test_anything_with_memory_is_an_array(module: envisa.Module) -> None:
    import array

    a, out = array.array("f", [1, 2, 3]), bytearray(12)
    module["vadd"][8, 8](a, a, np.frombuffer(out, "f4"), 3)
    assert np.frombuffer(out, "f4").tolist() == [2, 4, 6]


def test_local_memory_vectors_and_several_groups(module: envisa.Module) -> None:
    data, out = np.arange(256, dtype="u4"), np.zeros(256, "u4")
    module["reverse"][256, 64](data, out, envisa.Local(64, "u4"))
    np.testing.assert_array_equal(out, data.reshape(4, 64)[:, ::-1].reshape(-1))
    v = np.zeros((5, 4), "f4")
    module["add4"][5, 5](v, (1, 2, 3, 4))
    np.testing.assert_array_equal(v, np.tile(np.float32([1, 2, 3, 4]), (5, 1)))


def test_what_a_kernel_prints_goes_to_stdout(module: envisa.Module, capsys: pytest.CaptureFixture[str]) -> None:
    outcome = module["hello"][2, 2](40)
    assert sorted(capsys.readouterr().out.split("\n")) == ["", "hello 40", "hello 41"]
    assert "hello 40" in outcome.printed


def test_what_a_surface_drops_is_a_warning(module: envisa.Module) -> None:
    with pytest.warns(envisa.DroppedAccess, match="1 write out of bounds.*kernel.cl:6"):
        module["stray"][1, 1](np.zeros(4, "f4"), 1000)


def test_a_fault_names_line_work_item_and_address() -> None:
    # Without surfaces, whose accesses out of bounds the device drops.
    module = envisa.Device("dg2").build(SOURCE, "-DBARRIER= -cl-intel-greater-than-4GB-buffer-required")
    out = np.zeros(4, "f4")
    with pytest.raises(envisa.Fault) as caught:
        module["stray"][1, 1](out, 1000)
    fault = caught.value
    assert (fault.code, fault.kernel, fault.work_item) == ("F0001", "stray", (0, 0, 0))
    assert fault.source_line is not None and "out[at] = 1" in (fault.source_line.text or "")
    assert fault.address is not None and "out[at] = 1" in str(fault)
    again = pickle.loads(pickle.dumps(fault))
    assert (again.code, again.work_item) == (fault.code, fault.work_item)


def test_checks_find_a_race_and_none_where_there_is_none(module: envisa.Module) -> None:
    data, out = np.arange(64, dtype="u4"), np.zeros(64, "u4")
    good = module["reverse"][64, 64].check(data, out, envisa.Local(64, "u4"))
    assert good.findings == []
    bad = envisa.Device("dg2").build(SOURCE, "-DBARRIER=")
    findings = bad["reverse"][64, 64].check(data, out, envisa.Local(64, "u4")).findings
    assert findings and findings[0].code == "F0004"
    assert findings[0].source_line is not None and findings[0].work_item is not None


def test_profiles_and_statistics(module: envisa.Module) -> None:
    a = floats(1000)
    outcome = module["vadd"][1024, 64].launch((a, a, a.copy(), 1000), profile=True, statistics=True)
    assert outcome.profile is not None and outcome.profile.lines
    assert outcome.statistics is not None


@pytest.mark.parametrize(
    ("argument", "call", "said"),
    [
        ("out", lambda a: (a, a, np.zeros(1000), 1000), "float64"),
        ("out", lambda a: (a, a, np.zeros(1000, "i4"), 1000), "int32"),
        ("out", lambda a: (a, a, [0.0] * 1000, 1000), "list"),
        ("n", lambda a: (a, a, a.copy(), 2**31), "2147483648"),
        ("n", lambda a: (a, a, a.copy(), 1.5), "float"),
        ("a", lambda a: (a.astype(object), a, a.copy(), 1000), "object"),
        ("a", lambda a: (a.astype(">f4"), a, a.copy(), 1000), ">f4"),
    ],
)
def test_what_does_not_fit_names_the_argument(module, argument, call, said) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(envisa.ArgumentError) as caught:
        module["vadd"][1024, 64](*call(floats(1000)))
    assert f"`{argument}`" in str(caught.value) and said in str(caught.value)


def test_read_only_arrays_are_read_and_never_written(module: envisa.Module) -> None:
    a, out = floats(8), np.zeros(8, "f4")
    a.flags.writeable = False
    module["vadd"][8, 8](a, a, out, 8)
    np.testing.assert_array_equal(out, 2 * a)
    with pytest.raises(envisa.ArgumentError, match="`out`.*read-only"):
        module["vadd"][8, 8](a, a, a, 8)


@pytest.mark.parametrize(
    "call",
    [
        lambda k: k[8, 8](),
        lambda k: k[8, 8](1, 2, 3, 4, 5),
        lambda k: k[8, 8](nothing=1),
        lambda k: k[8, 8](floats(8), a=floats(8)),
        lambda k: k[8, 8, 8],
        lambda k: k["8"],
        lambda k: k[(1, 2, 3, 4), None],
        lambda k: k[-1, 8],
    ],
)
def test_wrong_calls_are_type_errors(module, call) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(TypeError):
        call(module["vadd"])


def test_sources_that_do_not_compile_give_the_compilers_messages() -> None:
    with pytest.raises(envisa.BuildError, match="undeclared"):
        envisa.Device("pvc").build("kernel void k(global int* a) { a[0] = nothing; }")


def test_kernels_and_modules_pickle(module: envisa.Module) -> None:
    kernel = pickle.loads(pickle.dumps(module["vadd"]))
    a, out = floats(8), np.zeros(8, "f4")
    kernel[8, 8](a, a, out, 8)
    np.testing.assert_array_equal(out, 2 * a)


def test_threads_of_python_launch_side_by_side(module: envisa.Module) -> None:
    other = envisa.Device("pvc").build(SOURCE, "-DBARRIER=barrier(CLK_LOCAL_MEM_FENCE);")
    wrong: list[int] = []

    def work(i: int) -> None:
        a, kernel = np.full(500, i, "f4"), (module if i % 2 else other)["vadd"]
        for _ in range(50):
            out = np.zeros(500, "f4")
            kernel[512, 32](a, a, out, 500)
            if (out != 2 * i).any():
                wrong.append(i)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


def test_control_c_ends_a_launch_and_keeps_what_was_computed(module: envisa.Module) -> None:
    flag = np.zeros(1, "i4")
    # A shell that starts the tests in the background has them ignore the signal.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
        timer.start()
        started = time.monotonic()
        with pytest.raises(KeyboardInterrupt):
            module["wait_for"][1, 1](flag)
    finally:
        signal.signal(signal.SIGINT, before)
    assert time.monotonic() - started < 10


def test_images_and_samplers() -> None:
    module = envisa.Device("dg2").build("""
    kernel void copy(read_only image2d_t from, write_only image2d_t to, sampler_t s) {
        int2 at = (int2)(get_global_id(0), get_global_id(1));
        write_imageui(to, at, read_imageui(from, s, at));
    }""")
    texels = np.random.default_rng(1).integers(0, 255, (4, 8, 4)).astype("u1")
    out = np.zeros_like(texels)
    kind = "2d:8,4:rgba:u8"
    sampler = envisa.Sampler("clamp_to_edge:nearest:unnormalized")
    module["copy"][(8, 4), (8, 4)](envisa.Image(texels, kind), envisa.Image(out, kind), sampler)
    np.testing.assert_array_equal(out, texels)
    assert envisa.Image(texels, "2d:8,4:rgba:unorm8")._repr_png_()[:4] == b"\x89PNG"


def test_visa_text_binary_and_diagnostics() -> None:
    text = """.version 4.1
.kernel "twice"
.decl X v_type=G type=f num_elts=8 align=GRF
.decl T6 v_type=T num_elts=1
.input X offset=32 size=32
.input T6 offset=64 size=4
.kernel_attr SimdSize=8
mul (M1,8) X(0,0)<1> X(0,0)<1;1,0> 0x40000000:f
oword_st (2) T6 0x0:ud X.0
ret (M1,8)
"""
    out = np.zeros(8, "f4")
    envisa.Device("skl").build(text)["twice"][1, 1](X=floats(8), T6=out)
    np.testing.assert_array_equal(out, 2 * floats(8))
    binary = envisa.assemble(text)
    assert envisa.assemble(envisa.disassemble(binary)) == binary
    for code in (text, binary):
        assert not [d for d in envisa.verify(code, platform="SKL") if d.level == "error"]
    assert [d.level for d in envisa.verify(binary[:40])] == ["error"]
    with pytest.raises(envisa.Diagnostics) as caught:
        envisa.assemble(text.replace("mul (M1,8)", "mull (M1,8)"))
    assert caught.value.list[0].line == 8


def test_instructions_and_codes_are_explained() -> None:
    assert "data race" in envisa.explain("F0004") and "MAD" in envisa.explain("mad")
    with pytest.raises(envisa.Error, match="no_such_thing"):
        envisa.explain("no_such_thing")


def test_representations_in_notebooks(module: envisa.Module) -> None:
    assert "vadd" in module["vadd"]._repr_html_()
    outcome = module["vadd"][8, 8].launch((floats(8), floats(8), floats(8), 8), profile=True, check=False)
    assert outcome.profile is not None and "out[i] = a[i] + b[i]" in outcome.profile.page
    assert outcome.profile.data["format"] == "envisa-profile/1"
    assert 'srcdoc="&lt;!doctype html&gt;' in outcome._repr_html_()


def test_a_kernel_is_a_function_of_arrays(module: envisa.Module) -> None:
    add = pickle.loads(pickle.dumps(module["vadd"].function("out", count="n")))
    a = np.arange(12, dtype="f4").reshape(3, 4)
    np.testing.assert_array_equal(add(a, 2 * a), 3 * a)
    np.testing.assert_array_equal(add(a.T, a.T), 2 * a.T)
    assert add(a[:0], a[:0]).shape == (0, 4)
    add4 = envisa.Device("dg2").build("kernel void k(global const int* a, global int4* out) { out[get_global_id(0)] = a[get_global_id(0)]; }")
    assert add4["k"].function("out")(np.arange(3, dtype="i4")).tolist() == [[0] * 4, [1] * 4, [2] * 4]
    with pytest.raises(TypeError, match="takes a, b; 1 were given"):
        add(a)
    with pytest.raises(TypeError, match="no argument `output`"):
        module["vadd"].function("output")
