import { isUtf8 } from 'node:buffer'
import { randomUUID } from 'node:crypto'
import type { Stats } from 'node:fs'
import { type FileHandle, lstat, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { requireFreeSpace } from '../../core/files/free-space.ts'
import { errorCode, ifPresent } from '../../core/files/fs-error.ts'
import { openInside, resolveInside } from '../../core/files/safe-path.ts'
import { writeLike } from '../../core/files/write-like.ts'
import { exportFailed } from './errors.ts'
import { linkOrCopy } from './files/link-or-copy.ts'

/** A text file in the state in which it was read. */
export interface TextFile {
  /** Absolute, without symbolic links. */
  path: string
  /** Null if the file does not exist. */
  text: string | null
  stats: Stats | null
}

const MAX_BYTES = 64 * 1024 * 1024

/**
 * @throws PathRefusedError if a symbolic link leads out of the folder.
 * @throws ApiError EXPORT_FAILED if the file is larger than 64 MiB or not UTF-8; else the file system's error.
 */
export async function readTextFile (folder: string, name: string): Promise<TextFile> {
  const path = await resolveInside(folder, name)
  let handle: FileHandle
  try {
    handle = await openInside(folder, name)
  } catch (err) {
    if (errorCode(err) === 'ENOENT') return { path, text: null, stats: null }
    throw err
  }
  try {
    const stats = await handle.stat()
    if (stats.size > MAX_BYTES) {
      throw exportFailed(`${name} is larger than ${MAX_BYTES} bytes and is not read. Move it away to have a new ` +
        'one written.')
    }
    const bytes = await handle.readFile()
    if (!isUtf8(bytes)) {
      throw exportFailed(`${name} is not valid UTF-8. Save it as UTF-8 and export again.`)
    }
    return { path, text: bytes.toString('utf8'), stats }
  } finally {
    await handle.close()
  }
}

/**
 * Replaces the file's text in one step and stores the former file as `<file>.bak`.
 *
 * @returns false if the file already has this text: then nothing is written.
 * @throws ApiError EXPORT_FAILED if someone changed the file since it was read; else the file system's error.
 */
export async function replaceTextFile (file: TextFile, text: string): Promise<boolean> {
  if (file.text === text) return false
  const temporary = temporaryPath(dirname(file.path))
  try {
    await requireFreeSpace(dirname(temporary), Buffer.byteLength(text))
    await writeLike(temporary, text, file.stats)
    await checkUntouched(file)
    if (file.stats !== null) await backUp(file.path)
    await rename(temporary, file.path)
    return true
  } finally {
    await rm(temporary, { force: true })
  }
}

/** Returns a path in the folder that no scan treats as a ROM. */
export const temporaryPath = (folder: string) => join(folder, `.${randomUUID()}.tmp`)

async function checkUntouched ({ path, stats }: TextFile): Promise<void> {
  const now = await ifPresent(lstat(path))
  if (now?.ino === stats?.ino && now?.size === stats?.size && now?.mtimeMs === stats?.mtimeMs) return
  throw exportFailed('Another program changed the file during the export. Close that program and export again.')
}

async function backUp (path: string): Promise<void> {
  const temporary = temporaryPath(dirname(path))
  try {
    await linkOrCopy(path, temporary)
    await rename(temporary, `${path}.bak`)
  } finally {
    await rm(temporary, { force: true })
  }
}
