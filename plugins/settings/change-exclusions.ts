import type { Config } from '../../core/config/config.ts'
import { invalid } from '../../core/errors.ts'
import type { ChangeFile } from './change-file.ts'
import { listExcluded, listOwn, normalizeEntry } from './exclusions.ts'
import { EXCLUSIONS, type Exclusion, type ExclusionType } from './schemas.ts'

/** Creates the changes of the entries that scans exclude. */
export function createExclusions (config: Config, change: ChangeFile) {
  return {
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
    }
  }
}
