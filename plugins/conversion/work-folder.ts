import { randomBytes } from 'node:crypto'
import { constants } from 'node:fs'
import { lstat, open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { createFolder } from '../../core/files/create-folder.ts'

/** The prefix of work folders, which scans and the watcher skip. */
const PREFIX = '.svc-convert-'
export const isWorkName = (name: string) => name.startsWith(PREFIX)

/** Returns a unique name for a work folder, which no other process uses, even after this one has ended. */
export const workName = (romId: number) => `${PREFIX}${romId}-${randomBytes(4).toString('hex')}`

export async function syncPath (path: string): Promise<void> {
  const handle = await open(path, constants.O_RDONLY)
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** Creates an empty folder inside the work folder. */
export async function makeFolder (...parts: string[]): Promise<string> {
  const path = join(...parts)
  await createFolder(path)
  return path
}

export const removeFolder = (path: string) => rm(path, { recursive: true, force: true })

/** Returns facts that differ between files, and change when a file changes. */
export async function readFacts (path: string): Promise<{ inode: string, size: number, mtime: number }> {
  const { ino, size, mtimeMs } = await lstat(path, { bigint: true })
  return { inode: String(ino), size: Number(size), mtime: Number(mtimeMs) }
}
