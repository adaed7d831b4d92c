import { createHash } from 'node:crypto'
import { constants, createReadStream } from 'node:fs'
import { copyFile, mkdir, rename, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { errorCode } from '../../../core/files/fs-error.ts'
import { requireFreeSpace } from '../../../core/files/free-space.ts'
import type { Content } from './janitor-rows.ts'
import { listFiles } from '../stored-files.ts'

/** Where files go that no row names: after a restored database they may be all there is of somebody's saves. */
const LOST = 'lost'

async function sha1Of (path: string): Promise<string> {
  const hash = createHash('sha1')
  await pipeline(createReadStream(path), hash)
  return hash.digest('hex')
}

const keyOf = ({ file_size_bytes: size, sha1 }: Pick<Content, 'file_size_bytes' | 'sha1'>) => `${size} ${sha1}`

/** What lies aside and may be one of these, by size and SHA-1; only what has the size of one is read. */
async function indexLost (base: string, wanted: readonly Content[]): Promise<Map<string, string>> {
  const sizes = new Set(wanted.map(({ file_size_bytes: size }) => size))
  const index = new Map<string, string>()
  for (const path of await listFiles(base, LOST)) {
    const { size } = await stat(join(base, path))
    if (sizes.has(size)) index.set(keyOf({ file_size_bytes: size, sha1: await sha1Of(join(base, path)) }), path)
  }
  return index
}

/** @returns false when the disk has no room for a second one */
async function copyContent (source: string, target: string, bytes: number): Promise<boolean> {
  try {
    await requireFreeSpace(dirname(target), bytes)
  } catch (err) {
    if (errorCode(err) === 'NO_FREE_SPACE') return false
    throw err
  }
  await copyFile(source, target, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE)
  return true
}

/** Puts files aside that no row names. */
export async function setAside (base: string, paths: readonly string[]): Promise<void> {
  const folder = join(base, LOST, new Date().toISOString().slice(0, 10))
  for (const path of paths) {
    const target = join(folder, path)
    await mkdir(dirname(target), { recursive: true })
    await rename(join(base, path), target).catch((err: unknown) => {
      // Somebody may remove it at the same time.
      if (errorCode(err) !== 'ENOENT') throw err
    })
  }
}

/**
 * Gives rows whose file is gone the one with the same content that was put aside.
 *
 * @returns the paths that have their content again
 */
export async function recover (base: string, missing: readonly Content[]): Promise<string[]> {
  if (missing.length === 0) return []
  const index = await indexLost(base, missing)
  const recovered: string[] = []
  for (const content of missing) {
    const source = index.get(keyOf(content))
    if (source === undefined) continue
    const { disk_path: path, file_size_bytes: size } = content
    await mkdir(dirname(join(base, path)), { recursive: true })
    // The next row with that content takes a copy of this one's.
    if (source.startsWith(`${LOST}/`)) await rename(join(base, source), join(base, path))
    else if (!await copyContent(join(base, source), join(base, path), size)) continue
    index.set(keyOf(content), path)
    recovered.push(path)
  }
  return recovered
}
