import { createHash } from 'node:crypto'
import { closeSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { Output, PatchReader, Source } from '../../../plugins/patches/apply/files.ts'
import { applyPatch } from '../../../plugins/patches/apply/formats.ts'

/** Applies a patch to files in a folder, as the thread does. */
export function applyIn (folder: string, base: Buffer, patch: Buffer, maxBytes = 1 << 20) {
  const names = { base: join(folder, 'base'), patch: join(folder, 'patch'), output: join(folder, 'output') }
  // Use new files, because some file systems write overwritten files to disk at once.
  for (const path of Object.values(names)) rmSync(path, { force: true })
  writeFileSync(names.base, base)
  writeFileSync(names.patch, patch)
  const [from, by, to] = [openSync(names.base, 'r'), openSync(names.patch, 'r'), openSync(names.output, 'w+')]
  try {
    const isValid = applyPatch({
      base: new Source(from, base.length),
      patch: new PatchReader(new Source(by, patch.length)),
      output: new Output(to, maxBytes, Number.MAX_SAFE_INTEGER)
    })
    return { isValid, result: readFileSync(names.output) }
  } finally {
    for (const fd of [from, by, to]) closeSync(fd)
  }
}

function be (value: number, length: number): Buffer {
  const bytes = Buffer.alloc(length)
  bytes.writeUIntBE(value, 0, length)
  return bytes
}
const le = (value: number, length: number) => Buffer.from(be(value, length).reverse())
const text = (value: string) => Buffer.from(value, 'latin1')
const md5 = (bytes: Buffer) => createHash('md5').update(bytes).digest()

/** Lists the differences of two files in runs of limited length; bytes that the first file lacks differ. */
function listRuns (base: Buffer, result: Buffer, longest: number): { at: number, bytes: Buffer }[] {
  const runs: { at: number, bytes: Buffer }[] = []
  for (let at = 0; at < result.length;) {
    if (at < base.length && base[at] === result[at]) { at++; continue }
    let end = at
    while (end < result.length && end - at < longest && (end >= base.length || base[end] !== result[end])) end++
    runs.push({ at, bytes: result.subarray(at, end) })
    at = end
  }
  return runs
}

const masked = (base: Buffer, at: number, bytes: Buffer) =>
  Buffer.from(bytes.map((byte, index) => byte ^ (base[at + index] ?? 0)))

function vlv (value: number): Buffer {
  const bytes: number[] = []
  for (let left = value; ;) {
    const low = left % 128
    left = Math.floor(left / 128)
    if (left === 0) { bytes.push(low | 0x80); return Buffer.from(bytes) }
    bytes.push(low)
    left--
  }
}

const withChecksums = (base: Buffer, result: Buffer, body: Buffer) => {
  const all = Buffer.concat([body, le(crc32(base), 4), le(crc32(result), 4)])
  return Buffer.concat([all, le(crc32(all), 4)])
}

type Encode = (base: Buffer, result: Buffer) => Buffer

/** Encoders of every patch format, made from its specification alone. */
export const ENCODERS: Record<string, Encode> = {
  ips: (base, result) => Buffer.concat([text('PATCH'), ...listRuns(base, result, 500).map(({ at, bytes }) =>
    bytes.every((byte) => byte === bytes[0])
      ? Buffer.concat([be(at, 3), be(0, 2), be(bytes.length, 2), bytes.subarray(0, 1)])
      : Buffer.concat([be(at, 3), be(bytes.length, 2), bytes])), text('EOF'), be(result.length, 3)]),
  ips32: (base, result) => Buffer.concat([text('IPS32'), ...listRuns(base, result, 500).map(({ at, bytes }) =>
    Buffer.concat([be(at, 4), be(bytes.length, 2), bytes])), text('EEOF'), be(result.length, 4)]),
  ups: (base, result) => {
    let behind = 0
    const length = Math.max(base.length, result.length)
    const [before, after] = [base, result].map((file) => Buffer.concat([file, Buffer.alloc(length - file.length)])) as
      [Buffer, Buffer]
    const blocks = listRuns(before, after, Infinity).map(({ at, bytes }) => {
      const block = Buffer.concat([vlv(at - behind), masked(before, at, bytes), Buffer.of(0)])
      behind = at + bytes.length + 1
      return block
    })
    return withChecksums(base, result, Buffer.concat([text('UPS1'), vlv(base.length), vlv(result.length), ...blocks]))
  },
  /** Equal bytes are read from the base, repeated bytes from the result, and the rest from the patch. */
  bps: (base, result) => {
    const actions: Buffer[] = []
    let [baseAt, resultAt] = [0, 0]
    const step = (value: number) => vlv(Math.abs(value) * 2 + (value < 0 ? 1 : 0))
    for (let at = 0; at < result.length;) {
      let same = 0
      while (at + same < Math.min(base.length, result.length) && base[at + same] === result[at + same]) same++
      let repeated = 0
      const last = at === 0 ? undefined : result[at - 1]
      if (last !== undefined) while (result[at + repeated] === last) repeated++
      const found = base.indexOf(result.subarray(at, at + 4))
      if (same > 1) {
        actions.push(vlv((same - 1) * 4))
        at += same
      } else if (repeated > 2) {
        actions.push(vlv((repeated - 1) * 4 + 3), step(at - 1 - resultAt))
        resultAt = at - 1 + repeated
        at += repeated
      } else if (found !== -1 && at + 4 <= result.length) {
        actions.push(vlv(3 * 4 + 2), step(found - baseAt))
        baseAt = found + 4
        at += 4
      } else {
        actions.push(vlv(1), result.subarray(at, at + 1))
        at++
      }
    }
    return withChecksums(base, result, Buffer.concat([
      text('BPS1'), vlv(base.length), vlv(result.length), vlv(4), text('meta'), ...actions]))
  },
  ppf: (base, result) => Buffer.concat([text('PPF30\x02'), Buffer.alloc(50), Buffer.of(0, 0, 1, 0),
    ...listRuns(base, result, 255).map(({ at, bytes }) =>
      Buffer.concat([le(at, 4), le(0, 4), Buffer.of(bytes.length), bytes, bytes]))]),
  rup: (base, result) => {
    const number = (value: number) => value === 0 ? Buffer.of(0) : Buffer.concat([Buffer.of(4), le(value, 4)])
    const overflow = result.subarray(base.length)
    const rest = base.length === result.length
      ? []
      : base.length < result.length
        ? [text('A'), number(overflow.length), Buffer.from(overflow.map((byte) => byte ^ 0xff))]
        : [text('M'), number(0)]
    return Buffer.concat([text('NINJA2'), Buffer.alloc(0x800 - 6), Buffer.of(1), number(1), text('x'), Buffer.of(0),
      number(base.length), number(result.length), md5(base), md5(result), ...rest,
      ...listRuns(base, result.subarray(0, base.length), 300).map(({ at, bytes }) =>
        Buffer.concat([Buffer.of(2), number(at), number(bytes.length), masked(base, at, bytes)])), Buffer.of(0)])
  },
  aps: (base, result) => Buffer.concat([text('APS10'), Buffer.alloc(52), le(result.length, 4),
    ...listRuns(base, result, 255).map(({ at, bytes }) => bytes.every((byte) => byte === bytes[0])
      ? Buffer.concat([le(at, 4), Buffer.of(0, bytes[0] ?? 0, bytes.length)])
      : Buffer.concat([le(at, 4), Buffer.of(bytes.length), bytes]))]),
  pmsr: (base, result) => {
    const runs = listRuns(base, result, 400)
    return Buffer.concat([text('PMSR'), be(runs.length, 4), ...runs.map(({ at, bytes }) =>
      Buffer.concat([be(at, 4), be(bytes.length, 4), bytes]))])
  },
  xdelta: (base, result) => {
    const number = (value: number) => {
      const bytes = [value & 0x7f]
      for (let left = value >>> 7; left > 0; left >>>= 7) bytes.unshift((left & 0x7f) | 0x80)
      return Buffer.from(bytes)
    }
    const [data, orders, places]: [Buffer[], Buffer[], Buffer[]] = [[], [], []]
    for (let at = 0; at < result.length;) {
      let same = 0
      while (at + same < Math.min(base.length, result.length) && base[at + same] === result[at + same]) same++
      let run = 1
      while (at + run < result.length && result[at + run] === result[at]) run++
      if (same > 3) {
        orders.push(Buffer.of(19), number(same))
        places.push(number(at))
        at += same
      } else if (run > 3) {
        // Writes one byte, and then a copy of existing bytes of the window, by its distance.
        data.push(result.subarray(at, at + 1))
        orders.push(Buffer.of(2), Buffer.of(35), number(run - 1))
        places.push(number(1))
        at += run
      } else {
        data.push(result.subarray(at, at + 1))
        orders.push(Buffer.of(1), number(1))
        at++
      }
    }
    let [a, b] = [1, 0]
    for (const byte of result) { a = (a + byte) % 65_521; b = (b + a) % 65_521 }
    const [d, o, p] = [Buffer.concat(data), Buffer.concat(orders), Buffer.concat(places)]
    const lengths = [d, o, p].map((part) => number(part.length))
    const delta = Buffer.concat([number(result.length), Buffer.of(0), ...lengths,
      be(b * 65_536 + a, 4), d, o, p])
    const segment = base.length === 0 ? Buffer.of(4) : Buffer.concat([Buffer.of(5), number(base.length), number(0)])
    return Buffer.concat([Buffer.of(0xd6, 0xc3, 0xc4, 0, 4), number(3), text('app'), segment, number(delta.length), delta])
  }
}

/** Formats that cannot express a result shorter than the base. */
export const NEVER_SHORTER = new Set(['ppf', 'pmsr'])
