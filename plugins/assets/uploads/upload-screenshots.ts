import type { Readable } from 'node:stream'
import type { Context } from '../../../core/access/context.ts'
import { badRequest } from '../../../core/errors.ts'
import { findUserFolder } from '../../users/user-folder.ts'
import type { Files, StagedFile } from '../asset-files.ts'
import { PICTURE_EXTENSIONS, cleanFileName, isPicture } from '../asset-names.ts'
import { readPicture } from '../check-picture.ts'
import { getOwn } from '../read-assets.ts'
import type { ScreenshotView } from '../schemas.ts'
import { toScreenshotView } from '../views.ts'
import { findRom } from './read-upload.ts'
import { storeScreenshot } from './screenshots.ts'
import type { Writes } from './write-assets.ts'

const PNG = /^\x89PNG\r\n\x1a\n/ // eslint-disable-line no-control-regex

/** Creates uploads of pictures for the gallery of a ROM. */
export function createScreenshotUploads (files: Files, writes: Writes) {
  /** Stores a picture for the gallery of a ROM. @throws ApiError BAD_REQUEST, NOT_FOUND */
  async function uploadScreenshot (context: Context, romId: number, file: StagedFile): Promise<ScreenshotView> {
    const { db, caller } = context
    const rom = await findRom(context, romId)
    const name = cleanFileName(file.given_name)
    if (!isPicture(name)) {
      throw badRequest(`'${name}' is not a picture; its extension must be one of ${[...PICTURE_EXTENSIONS].join(', ')}`)
    }
    await readPicture({ path: file.path, head: file.head, name })
    const lineage = { user_id: caller.id, rom_id: rom.id, kind: 'screenshot' as const }
    const id = await writes.run(db, [lineage], async (writing) => {
      const screenshot = await storeScreenshot(writes, writing,
        { lineage, rom, file_name: name, is_public: false, is_gallery: true, origin_device_id: null }, file)
      // New content is private, even if the former content was public.
      screenshot.is_public = false
      return screenshot.id
    })
    return toScreenshotView(await getOwn(context, { kind: 'screenshot', id }))
  }

  return {
    uploadScreenshot,

    /** Stores a PNG picture from a stream for the gallery of a ROM. */
    async addPicture (context: Context, romId: number, name: string, picture: Readable): Promise<void> {
      const file = await files.stage(await findUserFolder(context.db, context.caller.id), name, picture)
      try {
        if (!PNG.test(file.head.toString('latin1', 0, 8))) throw badRequest('The picture is not a PNG; send a PNG')
        await uploadScreenshot(context, romId, file)
      } finally {
        await file.discard()
      }
    }
  }
}
