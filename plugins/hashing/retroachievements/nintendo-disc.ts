// Layouts: https://wiibrew.org/wiki/Wii_disc, https://wiibrew.org/wiki/WAD_files, https://www.gc-forever.com/yagcd/
import { createHash, type Hash } from 'node:crypto'
import { ArchiveError } from '../../../core/archives/limits.ts'
import type { ContentRule } from './cartridges.ts'
import { MAX_HASHED_BYTES } from './consoles.ts'
import { digestRange, readWhole, type Reads } from './images/file-reads.ts'

const GAMECUBE_MARK = { at: 0x1c, value: 0xc2339f3d }
const WII_MARK = { at: 0x18, value: 0x5d1c9ea3 }
const WAD_MARK = { at: 4, value: 0x49730000 }

const BASE_HEADER_BYTES = 0x2440
const MAX_HEADER_BYTES = 1024 ** 2
const SEGMENTS = 18

const PARTITION_TABLES = 4
/** The most partitions. Discs have two or three, collections some more. */
const MAX_PARTITIONS = 256
const UPDATE_PARTITION = 1
const CLUSTER_BYTES = 0x8000
const CLUSTER_HEADER_BYTES = 0x400
const CLUSTER_DATA_BYTES = CLUSTER_BYTES - CLUSTER_HEADER_BYTES
const MAX_CLUSTERS = 1024

export const hashGameCube: ContentRule = async (content) => {
  if (!await hasMark(content, GAMECUBE_MARK)) return null
  const digest = createHash('md5')
  await digestPrograms(digest, content, 0, 1)
  return digest.digest('hex')
}

export const hashWii: ContentRule = async (content) => {
  const digest = createHash('md5')
  if (await hasMark(content, WII_MARK)) await digestWiiDisc(digest, content)
  else if (await hasMark(content, WAD_MARK)) await digestWad(digest, content)
  else return null
  return digest.digest('hex')
}

async function hasMark (content: Reads, { at, value }: { at: number, value: number }): Promise<boolean> {
  const bytes = await content.read(at, 4)
  return bytes.length === 4 && bytes.readUInt32BE() === value
}

async function readNumber (content: Reads, at: number): Promise<number> {
  return (await readWhole(content, at, 4)).readUInt32BE()
}

/** Hashes the headers up to the end of the loader, and the segments of the main program. */
async function digestPrograms (digest: Hash, content: Reads, start: number, unit: number): Promise<void> {
  const loader = await readNumber(content, start + BASE_HEADER_BYTES + 0x14)
  const trailer = await readNumber(content, start + BASE_HEADER_BYTES + 0x18)
  await digestRange(digest, content, start, Math.min(BASE_HEADER_BYTES + 0x20 + loader + trailer, MAX_HEADER_BYTES))
  const program = await readNumber(content, start + 0x420) * unit
  const table = await readWhole(content, start + program, 0xd8)
  for (let segment = 0; segment < SEGMENTS; segment++) {
    const offset = table.readUInt32BE(segment * 4) * unit
    await digestRange(digest, content, start + offset, table.readUInt32BE(0x90 + segment * 4) * unit)
  }
}

interface Partition { start: number, type: number }

async function readPartitions (content: Reads): Promise<Partition[]> {
  const tables = await readWhole(content, 0x40000, PARTITION_TABLES * 8)
  const partitions: Partition[] = []
  for (let table = 0; table < PARTITION_TABLES; table++) {
    const count = tables.readUInt32BE(table * 8)
    if (partitions.length + count > MAX_PARTITIONS) throw new ArchiveError(`more than ${MAX_PARTITIONS} partitions`)
    const entries = await readWhole(content, tables.readUInt32BE(table * 8 + 4) * 4, count * 8)
    for (let at = 0; at < entries.length; at += 8) {
      partitions.push({ start: entries.readUInt32BE(at) * 4, type: entries.readUInt32BE(at + 4) })
    }
  }
  return partitions
}

async function digestWiiDisc (digest: Hash, content: Reads): Promise<void> {
  const isEncrypted = (await readWhole(content, 0x61, 1))[0] === 0
  digest.update(await readWhole(content, 0, 0x80))
  digest.update(await readWhole(content, 0x4e000, 4))
  for (const { start, type } of await readPartitions(content)) {
    if (type === UPDATE_PARTITION) continue
    const header = await readWhole(content, start + 0x2a4, 0x1c)
    await digestRange(digest, content, start + header.readUInt32BE(4) * 4,
      Math.min(header.readUInt32BE(0), CLUSTER_DATA_BYTES))
    // The reference implementation counts from the start of the disc, not of the partition.
    const data = header.readUInt32BE(0x14) * 4
    const clusters = Math.min(MAX_CLUSTERS, Math.floor(header.readUInt32BE(0x18) * 4 / CLUSTER_BYTES))
    if (!isEncrypted) await digestPrograms(digest, content, data, 4)
    else await digestClusters(digest, content, data, clusters)
  }
}

async function digestClusters (digest: Hash, content: Reads, start: number, count: number): Promise<void> {
  for (let cluster = 0; cluster < count; cluster++) {
    await digestRange(digest, content, start + cluster * CLUSTER_BYTES + CLUSTER_HEADER_BYTES, CLUSTER_DATA_BYTES)
  }
}

const align = (size: number, to: number) => Math.ceil(size / to) * to

/** Hashes a title of the shop: its description and each of its contents, without the padding between them. */
async function digestWad (digest: Hash, content: Reads): Promise<void> {
  const header = await readWhole(content, 0, 0x20)
  const start = 0x40 + align(header.readUInt32BE(8), 0x40) + align(header.readUInt32BE(0x10), 0x40)
  const size = Math.min(align(header.readUInt32BE(0x14), 0x40), MAX_HASHED_BYTES)
  await digestRange(digest, content, start, size)
  const count = (await readWhole(content, start + 0x1de, 2)).readUInt16BE()
  const records = await readWhole(content, start + 0x1e4, count * 0x24)
  let at = start + size
  for (let record = 0; record < records.length; record += 0x24) {
    const bytes = align(Number(records.readBigUInt64BE(record + 8)), 0x10)
    await digestRange(digest, content, at, Math.min(bytes, MAX_HASHED_BYTES))
    at = align(at + bytes, 0x40)
  }
}
