import { randomUUID } from 'node:crypto'
import type { Readable } from 'node:stream'
import type { Db } from '../../../core/database/db.ts'
import { inTransaction } from '../../../core/database/transaction.ts'
import { artworkFolder } from '../../artwork/artwork.ts'
import { FILM_KINDS } from '../../artwork/fetch-artwork.ts'
import type { ArtworkPublisher } from '../../artwork/files.ts'
import { addFirstScreenshot, setFirstMedium } from '../../artwork/rows.ts'
import type { Staging } from '../../artwork/staging.ts'
import { resourceKey } from '../../resources/resource-key.ts'
import { selectPlaces } from '../../roms/import-rows.ts'
import { HAS_ONE, type Picture, rememberPicture, withPart } from './picture.ts'
import type { ImportServices } from './writer.ts'

/** The start of `as` of a medium; its kind follows. */
export const MEDIUM = 'rom_medium_'

/** Creates the import of screenshots and other media of ROMs. A provider that has some of a kind replaces them. */
export function createRomMedia (
  { app, config, source }: ImportServices, staging: Staging, publisher: ArtworkPublisher
) {
  /** Publishes a file below the folder of a ROM, then names it in its row. */
  async function store (
    db: Db, picture: Picture, publish: (folder: string) => Promise<string>,
    write: (tx: Db, path: string) => Promise<boolean>
  ): Promise<string | null> {
    const place = (await selectPlaces(db, [picture.newId])).get(picture.newId)
    if (place === undefined) return 'its ROM was deleted meanwhile'
    const path = await publish(artworkFolder(place.platform_id, picture.newId))
    const isWritten = await inTransaction(db, async (tx) => {
      const written = await write(tx, path)
      if (written) await rememberPicture(tx, source, picture)
      return written
    })
    if (isWritten) return null
    await app.store.delete([resourceKey(path)])
    return HAS_ONE
  }

  return {
    async storeMedium (db: Db, picture: Picture, content: Readable): Promise<string | null> {
      const kind = picture.as.slice(MEDIUM.length)
      const wanted = config.scan.media.find((one) => one === kind)
      if (wanted === undefined) return `media of the kind '${kind}' are not stored here; add it to scan.media in config.yml`
      const isFilm = FILM_KINDS.includes(wanted)
      return await withPart(staging, content, (part) => store(db, picture, async (folder) => {
        const stem = `${folder}/${kind}/own-${randomUUID()}`
        return isFilm ? await publisher.publishFilm(part, `${stem}.mp4`) : await publisher.publishImage(part, stem)
      }, (tx, path) => setFirstMedium(tx, picture.newId, kind, path)))
    },

    storeScreenshot: (db: Db, picture: Picture, content: Readable): Promise<string | null> =>
      withPart(staging, content, (part) => store(db, picture,
        (folder) => publisher.publishImage(part, `${folder}/screenshots/own-${randomUUID()}`),
        (tx, path) => addFirstScreenshot(tx, picture.newId, path)))
  }
}
