import type { Config } from '../../core/config/config.ts'
import { getAt } from '../../core/config/setting-values.ts'
import { systemConfig } from '../platforms/config.ts'
import type { ChangeFile } from './change-file.ts'
import type { Binding } from './schemas.ts'

/** The two maps of folders. */
export type BindingKind = 'platforms' | 'versions'

function bindingsOf (kind: BindingKind, content: unknown): object {
  const bindings = getAt(content, ['system', kind])
  return typeof bindings === 'object' && bindings !== null ? bindings : {}
}

/** Finds a folder without regard to case, because bindings are looked up in the same way. */
const findFolder = (bindings: object, folder: string): string | undefined =>
  Object.keys(bindings).find((key) => key.toLowerCase() === folder.toLowerCase())

/** Creates the changes of the platforms that folders are bound to. */
export function createBindings (config: Config, change: ChangeFile) {
  return {
    /** Binds a folder. A folder that is already bound does not change. */
    async bind (kind: BindingKind, { fs_slug: folder, slug }: Binding): Promise<void> {
      if (findFolder(systemConfig.of(config)[kind], folder) !== undefined) return
      await change((content) => {
        const isBound = findFolder(bindingsOf(kind, content), folder) !== undefined
        return isBound ? [] : [{ path: ['system', kind, folder], value: slug }]
      })
    },

    /** @param spellings of the folder, most likely first */
    async unbind (kind: BindingKind, spellings: readonly string[]): Promise<void> {
      await change((content) => {
        const [folder] = spellings.flatMap((spelling) => findFolder(bindingsOf(kind, content), spelling) ?? [])
        return folder === undefined ? [] : [{ path: ['system', kind, folder], value: undefined }]
      })
    }
  }
}
