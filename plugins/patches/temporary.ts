import { randomUUID } from 'node:crypto'
import { type FileHandle, open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { createFolder } from '../../core/files/create-folder.ts'

/** Opens an empty file without a name, which disappears with its handle, however the process ends. */
export async function openNameless (folder: string): Promise<FileHandle> {
  await createFolder(folder)
  const path = join(folder, `${randomUUID()}.tmp`)
  const handle = await open(path, 'wx+', 0o600)
  try {
    await rm(path)
    return handle
  } catch (err) {
    await handle.close()
    throw err
  }
}
