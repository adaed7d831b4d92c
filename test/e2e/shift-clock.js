// Shifts the clock of a process by TEST_CLOCK_SHIFT_MS, as on a machine whose clock is wrong. Loaded with --import.

const shiftMs = Number(process.env.TEST_CLOCK_SHIFT_MS ?? 0)
const { now } = Date
Date.now = () => now() + shiftMs
globalThis.Date = new Proxy(Date, {
  construct: (target, args, newTarget) => Reflect.construct(target, args.length === 0 ? [Date.now()] : args, newTarget)
})
