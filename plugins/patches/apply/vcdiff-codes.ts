/** An instruction; for a size of 0 its size follows in the patch. */
export interface Instruction { kind: 'add' | 'run' | 'copy', size: number, mode: number }

const add = (size: number): Instruction => ({ kind: 'add', size, mode: 0 })
const copy = (size: number, mode: number): Instruction => ({ kind: 'copy', size, mode })
const range = (first: number, last: number) => Array.from({ length: last - first + 1 }, (_none, index) => first + index)

/** The table of RFC 3284, section 5.6: the one or two instructions of each byte. */
export const CODES: readonly (readonly Instruction[])[] = [
  [{ kind: 'run', size: 0, mode: 0 }],
  ...range(0, 17).map((size) => [add(size)]),
  ...range(0, 8).flatMap((mode) => [0, ...range(4, 18)].map((size) => [copy(size, mode)])),
  ...range(0, 5).flatMap((mode) => range(1, 4).flatMap((one) =>
    range(4, 6).map((other) => [add(one), copy(other, mode)]))),
  ...range(6, 8).flatMap((mode) => range(1, 4).map((one) => [add(one), copy(4, mode)])),
  ...range(0, 8).map((mode) => [copy(4, mode), add(1)])
]
