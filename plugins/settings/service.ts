import { isDeepStrictEqual } from 'node:util'
import type { FastifyInstance } from 'fastify'
import type { Caller } from '../../core/access/auth.ts'
import type { Context } from '../../core/access/context.ts'
import { type Config, getAt } from '../../core/config/config.ts'
import { createPathMask } from '../../core/config/path-mask.ts'
import { inTransaction } from '../../core/database/transaction.ts'
import { ApiError, conflict, invalid } from '../../core/errors.ts'
import { configNotWritable } from './errors.ts'
import { systemConfig } from '../platforms/config.ts'
import { listProviderKeys } from '../plugins/providers.ts'
import { type Change, UnchangeableError, changeText, readText } from './document.ts'
import { listExcluded, listOwn, normalizeEntry } from './exclusions.ts'
import { checkFile, readTextOf, replaceText } from './file.ts'
import { lockConfigFile } from './rows.ts'
import { type Binding, type ConfigView, EXCLUSIONS, type Exclusion, type ExclusionType, type ScanSettings } from './schemas.ts'
import { NO_PRIVATE_SETTINGS, listOwnSettings, toConfigView } from './views.ts'

/** The two maps of folders. */
export type BindingKind = 'platforms' | 'versions'

const withoutRepeats = (values: readonly string[]) => [...new Set(values)]
/** Normalizes codes, which are compared in lower case. */
const toCodes = (values: readonly string[]) =>
  withoutRepeats(values.map((value) => value.trim().toLowerCase()).filter(Boolean))

function bindingsOf (kind: BindingKind, content: unknown): object {
  const bindings = getAt(content, ['system', kind])
  return typeof bindings === 'object' && bindings !== null ? bindings : {}
}

/** Finds a folder without regard to case, because bindings are looked up in the same way. */
const findFolder = (bindings: object, folder: string): string | undefined =>
  Object.keys(bindings).find((key) => key.toLowerCase() === folder.toLowerCase())

const SOURCE_LISTS = ['metadata_priority', 'artwork_priority', 'cover_priority', 'screenshot_priority', 'manual_priority'] as const

/** Returns the changes of the scan section. Its other keys stay. */
function toChanges (input: ScanSettings): Change[] {
  const { cover_priority: cover, screenshot_priority: screenshot, manual_priority: manual } = input
  const override = (values: readonly string[] | null | undefined) => values ? withoutRepeats(values) : undefined
  return [
    { path: ['scan', 'priority', 'metadata'], value: withoutRepeats(input.metadata_priority) },
    { path: ['scan', 'priority', 'artwork'], value: withoutRepeats(input.artwork_priority) },
    { path: ['scan', 'priority', 'cover'], value: override(cover) },
    { path: ['scan', 'priority', 'screenshot'], value: override(screenshot) },
    { path: ['scan', 'priority', 'manual'], value: override(manual) },
    { path: ['scan', 'priority', 'region'], value: toCodes(input.region_priority) },
    { path: ['scan', 'priority', 'language'], value: toCodes(input.language_priority) },
    { path: ['scan', 'media'], value: input.media },
    { path: ['scan', 'gamelist', 'export'], value: input.gamelist_export },
    { path: ['scan', 'gamelist', 'media', 'thumbnail'], value: input.gamelist_thumbnail },
    { path: ['scan', 'gamelist', 'media', 'image'], value: input.gamelist_image },
    { path: ['scan', 'pegasus', 'export'], value: input.pegasus_export }
  ]
}

export function createSettings (app: FastifyInstance, config: Config) {
  const { path: file, fixed } = config.file
  const mask = createPathMask(config)

  const refuse = (reason: string, cause?: unknown) => new ApiError('CONFLICT',
    `config.yml cannot be changed here: ${reason}. Edit the file itself`, { cause })

  function findProblem (): string | null {
    const problem = config.file.findProblem()
    return problem === null ? null : mask(problem)
  }

  /** @throws ApiError CONFLICT for a value that a variable overrides */
  function withoutFixed (changes: readonly Change[]): Change[] {
    return changes.filter(({ path, value }) => {
      const variable = fixed.get(path.join('.'))
      if (variable === undefined) return true
      if (isDeepStrictEqual(getAt(config, [...path]), value)) return false
      throw conflict(`${path.join('.')} is set by the variable ${variable} and cannot be changed here; unset the variable, ` +
        'or change it there')
    })
  }

  /**
   * Changes the current file under a lock; every process notices the change by itself.
   *
   * @param plan receives the content of the file
   */
  async function change (plan: (content: Record<string, unknown>) => readonly Change[]): Promise<void> {
    if (!(await checkFile(file)).isWritable) throw configNotWritable()
    const problem = findProblem()
    if (problem !== null) throw refuse(problem)
    // The work is idempotent, so the transaction may be retried.
    await inTransaction(app.db, async (tx) => {
      await lockConfigFile(tx)
      const before = await readTextOf(file)
      try {
        const after = changeText(before, plan(readText(before)))
        if (after !== before) await replaceText(file, after)
      } catch (err) {
        throw err instanceof UnchangeableError ? refuse(err.message, err) : err
      }
    })
  }

  /** @throws ApiError INVALID */
  function checkSources (input: ScanSettings): void {
    const known = listProviderKeys(app.registry)
    for (const list of SOURCE_LISTS) {
      const at = (input[list] ?? []).findIndex((key) => !known.includes(key))
      const key = input[list]?.[at]
      if (key !== undefined) throw invalid(['body', list, at], `'${key}' is not a provider; use some of ${known.join(', ')}`, key)
    }
  }

  return {
    change,

    /** Without a credential that may read platforms, the result contains nothing that describes this library. */
    async read (context: Context<Caller | null>): Promise<ConfigView> {
      const { caller } = context
      const state = await checkFile(file)
      const isGuest = caller === null || caller.credential === 'kiosk'
      if (isGuest || !caller.scopes.has('platforms.read')) return toConfigView(config, state, NO_PRIVATE_SETTINGS)
      const hidden = await app.platforms.listHiddenFolders(context)
      return toConfigView(config, state, listOwnSettings(config, findProblem(), hidden))
    },

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
    },

    /** Adds an exclusion. An existing one does not change. */
    async exclude ({ exclusion_type: type, exclusion_value: value }: Exclusion): Promise<void> {
      const list = EXCLUSIONS[type]
      const entry = normalizeEntry(list, value)
      if (entry === '') throw invalid(['body', 'exclusion_value'], `'${value}' is not an extension; send one such as txt`, value)
      if (listExcluded(type, config).includes(entry)) return
      await change((content) => {
        const entries = listOwn(type, content)
        const isListed = entries.some((other) => normalizeEntry(list, other) === entry)
        return isListed ? [] : [{ path: list.path, value: [...entries, entry] }]
      })
    },

    /** @param spellings of the entry, most likely first */
    async include (type: ExclusionType, spellings: readonly string[]): Promise<void> {
      const list = EXCLUSIONS[type]
      await change((content) => {
        const entries = listOwn(type, content)
        const isEntry = (other: string, spelling: string) =>
          normalizeEntry(list, other) === normalizeEntry(list, spelling)
        const found = spellings.find((spelling) => entries.some((other) => isEntry(other, spelling)))
        return found === undefined
          ? []
          : [{ path: list.path, value: entries.filter((other) => !isEntry(other, found)) }]
      })
    },

    /** True if scans would write files of a frontend that they do not write now. */
    enablesExport: ({ gamelist_export: gamelist, pegasus_export: pegasus }: ScanSettings): boolean =>
      (gamelist && getAt(config.scan, ['gamelist', 'export']) !== true) ||
      (pegasus && getAt(config.scan, ['pegasus', 'export']) !== true),

    async changeScan (input: ScanSettings): Promise<void> {
      checkSources(input)
      await change(() => withoutFixed(toChanges(input)))
    }
  }
}
