import { randomUUID } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { lstat, mkdir, readdir, rename, rm } from 'node:fs/promises'
import { dirname, extname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { ifPresent } from '../../../core/files/fs-error.ts'
import { requireFreeSpace } from '../../../core/files/free-space.ts'
import { openInside, resolveInside } from '../../../core/files/safe-path.ts'
import type { DeviceSave, Transport } from '../transport.ts'

export const FOLDERS = ['incoming', 'outgoing', 'conflicts'] as const
/** Names that transfer programs give to unfinished files. */
const UNFINISHED = /^[.~]|\.(?:part|tmp|partial|crdownload)$/i

const listFolder = async (path: string) => await ifPresent(readdir(path, { withFileTypes: true })) ?? []

async function findSave (folder: string, platform: string, name: string): Promise<DeviceSave | null> {
  const path = `incoming/${platform}/${name}`
  const stats = await lstat(join(folder, path)).catch(() => null)
  if (stats?.isFile() !== true) return null
  return { platform, file_name: name, file_size_bytes: stats.size, changed_at: Math.round(stats.mtimeMs), path }
}

async function isSame (folder: string, save: DeviceSave): Promise<boolean> {
  const found = await findSave(folder, save.platform, save.file_name)
  return found !== null && found.file_size_bytes === save.file_size_bytes && found.changed_at === save.changed_at
}

/** Resolves a path inside the device's folder and creates its parent folder. */
async function resolvePath (folder: string, path: string): Promise<string> {
  const resolved = await resolveInside(folder, path)
  await mkdir(dirname(resolved), { recursive: true })
  return resolved
}

/** Creates a transport for a device's folder on this machine. Links never lead out of the folder. */
export function createFolderTransport (folder: string): Transport {
  return {
    offersMissing: false,
    isOpen: () => true,
    isSame: (save) => isSame(folder, save),
    close: async () => {},

    async list () {
      const saves: DeviceSave[] = []
      for (const platform of await listFolder(join(folder, 'incoming'))) {
        if (!platform.isDirectory()) continue
        for (const entry of await listFolder(join(folder, 'incoming', platform.name))) {
          if (!entry.isFile() || UNFINISHED.test(entry.name)) continue
          const save = await findSave(folder, platform.name, entry.name)
          if (save !== null) saves.push(save)
        }
      }
      return saves
    },

    open: async ({ path }) => (await openInside(folder, path)).createReadStream(),

    async write ({ platforms: [platform = ''], file_name: name, replaces }, content) {
      const resolved = await resolvePath(folder, `outgoing/${replaces?.platform ?? platform}/${name}`)
      const part = join(dirname(resolved), `.${randomUUID()}.part`)
      try {
        await requireFreeSpace(dirname(resolved), 0)
        await pipeline(content, createWriteStream(part, { flags: 'wx' }))
        await rename(part, resolved)
      } catch (err) {
        await rm(part, { force: true })
        throw err
      }
      return true
    },

    async onSynced (save) {
      if (await isSame(folder, save)) await rm(await resolveInside(folder, save.path), { force: true })
    },

    async onConflict (save) {
      const extension = extname(save.file_name)
      const stem = save.file_name.slice(0, save.file_name.length - extension.length)
      const isPresentAlready = await lstat(join(folder, 'conflicts', save.platform, save.file_name)).then(() => true, () => false)
      const name = isPresentAlready ? `${stem}.${randomUUID().slice(0, 8)}${extension}` : save.file_name
      await rename(await resolveInside(folder, save.path), await resolvePath(folder, `conflicts/${save.platform}/${name}`))
    }
  }
}
