import { createHash } from 'node:crypto'
import { constants, createReadStream } from 'node:fs'
import { copyFile, mkdir, rename, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { errorCode } from '../../../core/files/fs-error.ts'
import { requireFreeSpace } from '../../../core/files/free-space.ts'
import type { Content } from './janitor-rows.ts'
import { listFiles } from '../stored-files.ts'

/** Folder for files that no row names. After a database restore they may be the only copies of a user's saves. */
const LOST = 'lost'

async function sha1Of (path: string): Promise<string> {
  const hash = createHash('sha1')
  await pipeline(createReadStream(path), hash)
  return hash.digest('hex')
}

const keyOf = ({ file_size_bytes: size, sha1 }: Pick<Content, 'file_size_bytes' | 'sha1'>) => `${size} ${sha1}`

/**
 * Returns the files set aside that may be one of the wanted contents, by size and SHA-1. Only files of a wanted size
 * are read.
 */
async function indexLostFiles (base: string, missing: readonly Content[]): Promise<Map<string, string>> {
  const sizes = new Set(missing.map(({ file_size_bytes: size }) => size))
  const index = new Map<string, string>()
  for (const path of await listFiles(base, LOST)) {
    const { size } = await stat(join(base, path))
    if (sizes.has(size)) index.set(keyOf({ file_size_bytes: size, sha1: await sha1Of(join(base, path)) }), path)
  }
  return index
}

/** @returns false if the disk has no space for a second copy */
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

/** Moves files that no row names to the folder of lost files. */
export async function setAside (base: string, paths: readonly string[]): Promise<void> {
  const folder = join(base, LOST, new Date().toISOString().slice(0, 10))
  for (const path of paths) {
    const target = join(folder, path)
    await mkdir(dirname(target), { recursive: true })
    await rename(join(base, path), target).catch((err: unknown) => {
      // Another process may delete the file at the same time.
      if (errorCode(err) !== 'ENOENT') throw err
    })
  }
}

/**
 * Restores missing files from the files that were set aside and have the same content.
 *
 * @returns the paths that have their content again
 */
export async function recover (base: string, missing: readonly Content[]): Promise<string[]> {
  if (missing.length === 0) return []
  const index = await indexLostFiles(base, missing)
  const recovered: string[] = []
  for (const content of missing) {
    const source = index.get(keyOf(content))
    if (source === undefined) continue
    const { disk_path: path, file_size_bytes: size } = content
    await mkdir(dirname(join(base, path)), { recursive: true })
    // The next row with this content gets a copy of this row's file.
    if (source.startsWith(`${LOST}/`)) await rename(join(base, source), join(base, path))
    else if (!await copyContent(join(base, source), join(base, path), size)) continue
    index.set(keyOf(content), path)
    recovered.push(path)
  }
  return recovered
}
