// Without end, as a loop is, but at no cost to whatever else the machine does.
Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
