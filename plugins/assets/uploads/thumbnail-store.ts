import { parseName } from '../../library/names.ts'
import { Asset } from '../entities.ts'
import type { StagedFile } from '../asset-files.ts'
import { cleanFileName } from '../asset-names.ts'
import { readPicture } from '../check-picture.ts'
import { putScreenshot } from './screenshots.ts'
import { createThumbnails, isPictureOf } from './thumbnails.ts'
import type { RomPlace } from './write-rows.ts'
import { type Lineage, type Writes, type Writing, ofGame } from './write-assets.ts'

/** A picture that came with a save or state. */
export interface Picture { file: StagedFile, name: string, extension: string }

/**
 * Reads the picture of a form; null for an empty part, which browsers send for an unused field.
 *
 * @throws ApiError BAD_REQUEST if the file is not a picture
 */
export async function readThumbnail (file: StagedFile | null): Promise<Picture | null> {
  if (file === null || (file.given_name === '' && file.file_size_bytes === 0)) return null
  const name = cleanFileName(file.given_name)
  return { file, name, extension: await readPicture({ path: file.path, head: file.head, name }) }
}

type Deletion = Pick<Asset, 'deleted_at' | 'deleted_by'>
const gameKey = ({ rom, platform_fs_slug: platform, rom_fs_name: name }: Asset) => rom?.id ?? `${platform}/${name}`
const toNamed = (asset: Asset) =>
  ({ asset, user_id: asset.user.id, rom_id: asset.rom?.id ?? null, file_name: asset.file_name })

export function createThumbnailStore (writes: Writes) {
  const pictureLineage = (of: Asset): Lineage => ({ user_id: of.user.id, rom_id: of.rom?.id ?? null, kind: 'screenshot' })
  const NEWEST = { orderBy: { updated_at: 'desc', id: 'desc' } } as const

  async function findScreenshots ({ tx }: Writing, of: Asset, deletedAt: Date | null): Promise<Asset[]> {
    return await tx.em.find(Asset,
      { user: of.user.id, ...ofGame(of), kind: 'screenshot', is_gallery: false, deleted_at: deletedAt }, NEWEST)
  }

  return {
    /** Stores the picture of a save or state under a name that links the two. */
    async put (writing: Writing, of: Asset, rom: RomPlace, picture: Picture): Promise<void> {
      const lineage = { ...pictureLineage(of), rom_id: rom.id }
      await writing.lock(lineage)
      const name = isPictureOf(picture.name, of.file_name) && parseName(picture.name).fs_extension !== ''
        ? picture.name
        : `${of.file_name}.${picture.extension}`
      await putScreenshot(writes, writing, {
        lineage,
        rom,
        file_name: name,
        is_public: of.is_public,
        is_gallery: false,
        origin_device_id: of.origin_device?.id ?? null
      }, picture.file)
    },

    /** Gives the picture of a save or state the visibility of that save or state. */
    async show (writing: Writing, of: Asset): Promise<void> {
      const found = createThumbnails((await findScreenshots(writing, of, null)).map(toNamed))(toNamed(of))
      if (found !== null) found.asset.is_public = of.is_public
    },

    /** Deletes the pictures of deleted assets, unless a remaining asset has the same picture. */
    async delete (writing: Writing, gone: readonly Asset[]): Promise<void> {
      await writing.lock(...gone.map(pictureLineage))
      for (const group of Map.groupBy(gone, gameKey).values()) {
        const [first] = group
        if (first === undefined) continue
        const thumbnailOf = createThumbnails((await findScreenshots(writing, first, null)).map(toNamed))
        const left = await writing.tx.em.find(Asset,
          { user: first.user.id, ...ofGame(first), kind: ['save', 'state'], deleted_at: null })
        const needed = new Set(left.map((asset) => thumbnailOf(toNamed(asset))?.asset))
        for (const asset of group) {
          const found = thumbnailOf(toNamed(asset))?.asset
          if (found === undefined || needed.has(found)) continue
          const deletion: Deletion = { deleted_at: asset.deleted_at, deleted_by: asset.deleted_by }
          writing.tx.em.assign(found, deletion)
        }
      }
    },

    /** Restores the picture that was deleted with a save or state. */
    async restore (writing: Writing, of: Asset, deletedAt: Date): Promise<void> {
      await writing.lock(pictureLineage(of))
      const found = createThumbnails((await findScreenshots(writing, of, deletedAt)).map(toNamed))(toNamed(of))
      if (found !== null) writing.tx.em.assign(found.asset, { deleted_at: null, deleted_by: null })
    }
  }
}
export type ThumbnailStore = ReturnType<typeof createThumbnailStore>
