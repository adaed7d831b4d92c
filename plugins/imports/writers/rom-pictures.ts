import { randomUUID } from 'node:crypto'
import { extname } from 'node:path'
import type { Readable } from 'node:stream'
import type { Db } from '../../../core/database/db.ts'
import { inTransaction } from '../../../core/database/transaction.ts'
import { artworkFolder } from '../../artwork/artwork.ts'
import type { ArtworkPublisher } from '../../artwork/files.ts'
import type { Staging } from '../../artwork/staging.ts'
import { applyEdit } from '../../editing/apply-edit.ts'
import { writeMatches } from '../../matching/match-rows.ts'
import { readPriorities } from '../../matching/merge-matches.ts'
import { isIdentified } from '../../matching/matches.ts'
import { loadStoredRoms } from '../../matching/stored-rows.ts'
import { MANUAL } from '../../rom-files/kinds.ts'
import { resourceKey } from '../../resources/resource-key.ts'
import { writeManual } from '../../rom-files/rows.ts'
import { selectPlaces } from '../../roms/import-rows.ts'
import { HAS_ONE, type Picture, rememberPicture, withPart } from './picture.ts'
import type { ImportServices } from './writer.ts'

const ROM_GONE = 'its ROM was deleted meanwhile'

/** Creates the import of covers and manuals of ROMs, which become field locks as uploads by people do. */
export function createRomPictures (
  { app, config, source }: ImportServices, staging: Staging, publisher: ArtworkPublisher
) {
  const { providers } = app.registry

  async function storeCover (db: Db, picture: Picture, content: Readable): Promise<string | null> {
    const id = picture.newId
    const [stored, place] = [(await loadStoredRoms(db, [id])).get(id), (await selectPlaces(db, [id])).get(id)]
    if (stored === undefined || place === undefined) return ROM_GONE
    const { rom, stored: matches } = stored
    if (rom.own_fields.includes('url_cover')) return HAS_ONE
    const name = `own-${randomUUID()}`
    const folder = `${artworkFolder(place.platform_id, id)}/cover`
    const cover = await withPart(staging, content, (part) =>
      publisher.publishCover(part, { large: `${folder}/${name}`, small: `${folder}/${name}-small` }))
    const call = { texts: {}, cover: cover.large, unlock: [] }
    const priorities = readPriorities(config, providers)
    const { merged, ...edit } = applyEdit(rom, { matches, ids: [], records: [] }, call, priorities)
    const isWritten = await inTransaction(db, async (tx) => {
      const written = await writeMatches(tx, [{
        rom_id: id, edits: rom.edits, matches: new Map(), explanations: new Map(), dropped: [],
        merged: { ...merged, is_identified: isIdentified(matches, providers) }, edit: { ...edit, cover }
      }])
      if (written.length > 0) await rememberPicture(tx, source, picture)
      return written.length > 0
    })
    if (isWritten) return null
    await app.store.delete([cover.large, cover.small].map(resourceKey))
    return 'another person changed the ROM at the same moment; import again'
  }

  async function storeManual (db: Db, picture: Picture, content: Readable): Promise<string | null> {
    const id = picture.newId
    const type = extname(picture.file.path).toLowerCase()
    if (!MANUAL.extensions.includes(type.slice(1))) return `a manual of the type '${type}' is not supported`
    const place = (await selectPlaces(db, [id])).get(id)
    if (place === undefined) return ROM_GONE
    if (place.path_manual !== null && place.path_manual !== '') return HAS_ONE
    const path = `${artworkFolder(place.platform_id, id)}/manual/${id}${type}`
    await withPart(staging, content, (part) => publisher.publishDocument(part, path))
    await inTransaction(db, async (tx) => {
      await writeManual(tx, id, path)
      await rememberPicture(tx, source, picture)
    })
    return null
  }

  return { storeCover, storeManual }
}
