import { readSync } from 'node:fs'
import type { LibarchiveWasm } from 'libarchive-wasm'
import type { Archive, Entry } from './archive.ts'
import { ArchiveError, type Budget } from './limits.ts'
import type { Source } from './source.ts'

/**
 * libarchive compiled to WebAssembly reads formats that no other library reads. It has its own memory and no access to
 * files. It needs the whole (packed) archive in that memory, so larger archives are refused.
 */
const MAX_ARCHIVE_BYTES = 512 * 1024 ** 2

/** Larger archives are read one at a time, whatever the number of threads. */
const SMALL_ARCHIVE_BYTES = 32 * 1024 ** 2
/** An instance's memory never shrinks; an instance that has grown beyond this size is not reused. */
const KEPT_MEMORY_BYTES = 64 * 1024 ** 2
const PIECE_BYTES = 1024 ** 2
const FILE_TYPE_MASK = 0o170000
const REGULAR_FILE = 0o100000

interface WasmMemory {
  _malloc (bytes: number): number
  _free (address: number): void
  /** Replaced when the memory grows. */
  readonly HEAP8: Int8Array<ArrayBuffer>
}

interface Loaded {
  readonly wasm: LibarchiveWasm
  readonly memory: WasmMemory
  /** Address and length of the archive. */
  readonly packed: number
  readonly size: number
  /** Address of `PIECE_BYTES` for content. */
  readonly piece: number
}

/** Opens a rar, a 7z or a zip with uncommon compression; members come in the stored order. @throws ArchiveError */
export async function openWithLibarchive (source: Source, budget: Budget): Promise<Archive> {
  if (source.size > MAX_ARCHIVE_BYTES) {
    throw new ArchiveError(`larger than ${MAX_ARCHIVE_BYTES} bytes, the limit for this kind of archive`)
  }
  if (source.size > SMALL_ARCHIVE_BYTES) budget.reserveMemory()
  const loaded = await load(source)
  return {
    async list () {
      const members = []
      for (const { index, name, size } of readEntries(loaded, budget)) members.push({ index, name, size })
      return members
    },
    async * entries (wanted) {
      let left = wanted?.size ?? Infinity
      for (const entry of readEntries(loaded, budget)) {
        if (wanted && !wanted.has(entry.index)) continue
        yield entry
        if (--left === 0) return
      }
    }
  }
}

function * readEntries (loaded: Loaded, budget: Budget): Generator<Entry> {
  const { wasm, memory, packed, size: packedBytes } = loaded
  idle = null
  budget.restart()
  const archive = wasm.read_new()
  let isSound = true
  function * content (): Generator<Uint8Array> {
    try {
      yield * readContent(loaded, archive, budget)
    } catch (error) {
      isSound = false
      throw error
    }
  }
  try {
    wasm.read_support_format_all(archive)
    wasm.read_open_memory(archive, packed, packedBytes)
    for (let index = 0; ;) {
      const entry = nextEntry(wasm, archive)
      if (entry === null) break
      budget.addEntry()
      budget.check()
      const name = wasm.entry_pathname(entry)
      if (wasm.entry_is_encrypted(entry)) throw new ArchiveError(`member '${name}' is encrypted`)
      if (!isRegularFile(wasm, entry)) continue
      const size = wasm.entry_size(entry)
      budget.assertSize(size)
      yield { index: index++, name, size, crc: null, content }
    }
  } catch (error) {
    isSound = false
    throw error
  } finally {
    wasm.read_free(archive)
    // Keeps the instance even if the reader stopped early, because a new instance takes twenty times as long as a small
    // archive.
    if (isSound && memory.HEAP8.length <= KEPT_MEMORY_BYTES) idle = loaded
  }
}

/** The instance of the last archive, ready for the next one; null while an archive is read, or after an error. */
let idle: Loaded | null = null

async function load (source: Source): Promise<Loaded> {
  const wasm = idle?.wasm ?? await (await import('libarchive-wasm')).libarchiveWasm()
  const memory = wasm.module as WasmMemory
  if (idle) {
    memory._free(idle.packed)
    memory._free(idle.piece)
    idle = null
  }
  const packed = memory._malloc(source.size)
  const piece = memory._malloc(PIECE_BYTES)
  if (packed === 0 || piece === 0) throw new ArchiveError('there is not enough memory to read it')
  readInto(new Uint8Array(memory.HEAP8.buffer, packed, source.size), source)
  return { wasm, memory, packed, piece, size: source.size }
}

function readInto (into: Uint8Array, source: Source): void {
  for (let filled = 0; filled < into.length;) {
    const read = readSync(source.fd, into, filled, into.length - filled, filled)
    if (read === 0) throw new ArchiveError('it became shorter while it was read')
    filled += read
  }
}

function nextEntry (wasm: LibarchiveWasm, archive: number): number | null {
  const entry = wasm.read_next_entry(archive)
  if (entry !== 0) return entry
  const message = wasm.error_string(archive)
  if (message) throw new ArchiveError(message)
  return null
}

function isRegularFile (wasm: LibarchiveWasm, entry: number): boolean {
  return (wasm.entry_filetype(entry) & FILE_TYPE_MASK) === REGULAR_FILE && !wasm.entry_hardlink(entry)
}

function * readContent ({ wasm, memory, piece }: Loaded, archive: number, budget: Budget): Generator<Uint8Array> {
  for (;;) {
    const read = wasm.read_data(archive, piece, PIECE_BYTES)
    if (read === 0) return
    budget.addBytes(read)
    yield new Uint8Array(memory.HEAP8.buffer, piece, read)
  }
}
