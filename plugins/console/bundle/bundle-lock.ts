import { mkdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { openLockFile, tryLockFile } from '../../../core/files/file-lock.ts'

const RETRY_MS = 200

/** Runs work while no other process works on the folder, also if that process belongs to another server. */
export async function lockFolder<T> (folder: string, work: () => Promise<T>): Promise<T> {
  await mkdir(dirname(folder), { recursive: true })
  const lock = openLockFile(`${folder}.lock`, 0)
  try {
    while (!tryLockFile(lock)) await sleep(RETRY_MS)
    return await work()
  } finally {
    lock.close()
  }
}
