import type { Db } from '../../core/database/db.ts'
import type { AnyCaller } from '../platforms/visibility.ts'
import type { Links } from './links.ts'
import { type FileChoice, type FileRow, PAGE_FILES, PAGE_ROMS, type RomRow, selectFilePage, selectRomPage } from './rows.ts'

/** The input of a feed. */
export interface Feed {
  db: Db
  caller: AnyCaller
  /** Folders may be bound to one slug: then there are several. */
  platforms: readonly { id: number, slug: string, name: string }[]
  links: Links
}

/**
 * The ROMs of some platforms, page by page, so that a feed of any length takes as much memory as a short one. The
 * database reads one page ahead while the page before is written.
 */
export async function * readRoms ({ db, caller }: Feed, platforms: Feed['platforms']): AsyncGenerator<RomRow[]> {
  for (const { id: platformId } of platforms) {
    const read = (after: Pick<RomRow, 'name_sort_key' | 'id'>) => {
      const page = selectRomPage({ db, caller }, platformId, after)
      // The loop rethrows the failure. A client that leaves before needs no page, and its failure ends no process.
      page.catch(() => {})
      return page
    }
    let next: Promise<RomRow[]> | null = read({ name_sort_key: '', id: 0 })
    while (next !== null) {
      const page: RomRow[] = await next
      const last = page.at(-1)
      next = page.length === PAGE_ROMS && last !== undefined ? read(last) : null
      const listed = page.filter((rom) => rom.is_listed)
      if (listed.length > 0) yield listed
    }
  }
}

/** Yields the chosen files of these ROMs, page by page. */
export async function * readFiles (
  db: Db, roms: readonly RomRow[], choice: FileChoice
): AsyncGenerator<FileRow[]> {
  const ids = roms.map((rom) => rom.id)
  let last: Pick<FileRow, 'position' | 'id'> | undefined = { position: 0, id: 0 }
  while (last !== undefined) {
    const page: FileRow[] = await selectFilePage(db, ids, choice, last)
    if (page.length > 0) yield page
    last = page.length === PAGE_FILES ? page.at(-1) : undefined
  }
}
