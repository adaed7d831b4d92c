import { extname } from 'node:path'
import { parseName } from '../../library/names.ts'
import { Asset } from '../entities.ts'
import type { StagedFile } from '../asset-files.ts'
import { cleanFileName } from '../asset-names.ts'
import { readPicture } from '../check-picture.ts'
import { storeScreenshot } from './screenshots.ts'
import { createThumbnails, isPictureOf } from './thumbnails.ts'
import type { RomNames } from './write-rows.ts'
import { type Writes, sameGame } from './write-assets.ts'
import type { WriteContext, WriteKey } from './write-transaction.ts'

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
  const pictureLineage = (asset: Asset): WriteKey => ({ user_id: asset.user.id, rom_id: asset.rom?.id ?? null, kind: 'screenshot' })
  const NEWEST = { orderBy: { updated_at: 'desc', id: 'desc' } } as const

  async function findScreenshots ({ tx }: WriteContext, asset: Asset, deletedAt: Date | null): Promise<Asset[]> {
    return await tx.em.find(Asset,
      { user: asset.user.id, ...sameGame(asset), kind: 'screenshot', is_gallery: false, deleted_at: deletedAt }, NEWEST)
  }

  return {
    /** Stores the picture of a save or state under a name that links the two. */
    async store (writing: WriteContext, asset: Asset, rom: RomNames, picture: Picture): Promise<void> {
      const lineage = { ...pictureLineage(asset), rom_id: rom.id }
      await writing.lock(lineage)
      const name = isPictureOf(picture.name, asset.file_name) && parseName(picture.name).fs_extension !== ''
        ? picture.name
        : `${asset.file_name}.${picture.extension}`
      await storeScreenshot(writes, writing, {
        lineage,
        rom,
        file_name: name,
        is_public: asset.is_public,
        is_gallery: false,
        origin_device_id: asset.origin_device?.id ?? null
      }, picture.file)
    },

    /** Gives the picture of a save or state the visibility of that save or state. */
    async copyVisibility (writing: WriteContext, asset: Asset): Promise<void> {
      const found = createThumbnails((await findScreenshots(writing, asset, null)).map(toNamed))(toNamed(asset))
      if (found !== null) found.asset.is_public = asset.is_public
    },

    /** Renames the picture of a renamed save or state, unless another asset has the same picture. */
    async rename (writing: WriteContext, asset: Asset, formerName: string): Promise<void> {
      await writing.lock(pictureLineage(asset))
      const thumbnailOf = createThumbnails((await findScreenshots(writing, asset, null)).map(toNamed))
      const picture = thumbnailOf({ ...toNamed(asset), file_name: formerName })?.asset
      if (picture === undefined) return
      const others = await writing.tx.em.find(Asset,
        { user: asset.user.id, ...sameGame(asset), kind: ['save', 'state'], deleted_at: null, id: { $ne: asset.id } })
      if (others.some((other) => thumbnailOf(toNamed(other))?.asset === picture)) return
      picture.file_name = asset.file_name + extname(picture.file_name)
    },

    /** Deletes the pictures of deleted assets, unless a remaining asset has the same picture. */
    async delete (writing: WriteContext, deletedAssets: readonly Asset[]): Promise<void> {
      await writing.lock(...deletedAssets.map(pictureLineage))
      for (const group of Map.groupBy(deletedAssets, gameKey).values()) {
        const [first] = group
        if (first === undefined) continue
        const thumbnailOf = createThumbnails((await findScreenshots(writing, first, null)).map(toNamed))
        const remaining = await writing.tx.em.find(Asset,
          { user: first.user.id, ...sameGame(first), kind: ['save', 'state'], deleted_at: null })
        const needed = new Set(remaining.map((asset) => thumbnailOf(toNamed(asset))?.asset))
        for (const asset of group) {
          const found = thumbnailOf(toNamed(asset))?.asset
          if (found === undefined || needed.has(found)) continue
          const deletion: Deletion = { deleted_at: asset.deleted_at, deleted_by: asset.deleted_by }
          writing.tx.em.assign(found, deletion)
        }
      }
    },

    /** Restores the picture that was deleted with a save or state. */
    async restore (writing: WriteContext, asset: Asset, deletedAt: Date): Promise<void> {
      await writing.lock(pictureLineage(asset))
      const found = createThumbnails((await findScreenshots(writing, asset, deletedAt)).map(toNamed))(toNamed(asset))
      if (found !== null) writing.tx.em.assign(found.asset, { deleted_at: null, deleted_by: null })
    }
  }
}
export type ThumbnailStore = ReturnType<typeof createThumbnailStore>
