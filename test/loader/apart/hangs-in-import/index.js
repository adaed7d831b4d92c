// Hangs without end like a loop, but uses no processor time.
Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
