import { join } from 'node:path'
import { stemOf } from '../../core/files/stem-of.ts'
import type { Archives } from './archive-in-thread.ts'
import { type FileDigest, contentOf, contentsOf, requireEqual } from './compare-contents.ts'
import type { Discs } from './discs.ts'
import type { Step } from './formats.ts'
import { makeFolder, removeFolder } from './work-folder.ts'

interface Services {
  archives: Archives
  /** Returns the converter of discs. @throws ApiError CONFLICT without chdman */
  discs (): Promise<Discs>
  signal: AbortSignal
}

/** Creates the function that makes new files from old ones in an empty folder, and compares their contents. */
export function createFileMaker ({ archives, discs, signal }: Services) {
  async function pack (
    files: readonly { path: string, name: string }[], archive: string, before: readonly FileDigest[]
  ) {
    await archives.run({ kind: 'pack', files, archive })
    requireEqual(before, await contentsOf(archive, archives))
  }

  async function zip ({ main }: Step, folder: string): Promise<string[]> {
    const name = `${stemOf(main.file_name)}.zip`
    const { absolute_path: path, file_name: inner } = main
    await pack([{ path, name: inner }], join(folder, name), [await contentOf(path, inner, signal)])
    return [name]
  }

  async function rezip ({ main }: Step, folder: string): Promise<string[]> {
    const name = `${stemOf(main.file_name)}.zip`
    const unpacked = await makeFolder(folder, 'unpacked')
    const members = await archives.run({ kind: 'unpack', archive: main.absolute_path, folder: unpacked })
    const files = members.map((member) => ({ path: join(unpacked, member.name), name: member.name }))
    await pack(files, join(folder, name), await contentsOf(main.absolute_path, archives))
    await removeFolder(unpacked)
    return [name]
  }

  async function unzip ({ main }: Step, folder: string): Promise<string[]> {
    const members = await archives.run({ kind: 'unpack', archive: main.absolute_path, folder })
    const made: FileDigest[] = []
    for (const { name } of members) made.push(await contentOf(join(folder, name), name, signal))
    requireEqual(await contentsOf(main.absolute_path, archives), made)
    return members.map(({ name }) => name)
  }

  /**
   * Runs a step.
   *
   * @returns the names of the new files in the folder
   * @throws ArchiveRefusedError, ChdmanError, ApiError CONFLICT
   */
  return async (step: Step, slug: string, folder: string): Promise<string[]> => {
    switch (step.kind) {
      case 'zip': return await zip(step, folder)
      case 'rezip': return await rezip(step, folder)
      case 'unzip': return await unzip(step, folder)
      case 'chd': return await (await discs()).compress(step, slug, folder)
      case 'unchd': return await (await discs()).extract(step, folder)
    }
  }
}
export type FileMaker = ReturnType<typeof createFileMaker>
