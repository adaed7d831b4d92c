import { type Static, type TObject, Type } from '@sinclair/typebox'
import type { Context } from '../../core/access/context.ts'
import { allOf } from '../../core/database/conditions.ts'
import type { AnyCaller } from '../platforms/visibility.ts'
import type { UserFiles } from '../roms/extensions.ts'
import type { AssetKind } from './entities.ts'
import { selectThumbnails } from './thumbnail-rows.ts'
import { type AssetRow, hasAsset, idsWithAsset, isLive, isOfRom, isShared, selectAssets, userIdOf } from './rows.ts'
import {
  SaveSchema, ScreenshotSchema, StateSchema, UserSaveSchema, UserScreenshotSchema, UserStateSchema
} from './schemas.ts'
import { createThumbnails } from './uploads/thumbnails.ts'
import { downloadPathOf, toOwnerView, toSaveView, toScreenshotView, toStateView } from './views.ts'

/** Fields of a ROM's details with the assets of the caller and the public assets of others. */
const RomAssetFields = {
  user_saves: Type.Array(SaveSchema),
  user_states: Type.Array(StateSchema),
  all_user_saves: Type.Array(UserSaveSchema),
  all_user_states: Type.Array(UserStateSchema),
  user_screenshots: Type.Array(ScreenshotSchema),
  all_user_screenshots: Type.Array(UserScreenshotSchema)
}
type RomAssets = Static<TObject<typeof RomAssetFields>>

/** Field values of a ROM without assets. */
const NO_ASSETS: RomAssets = {
  user_saves: [], user_states: [], user_screenshots: [],
  all_user_saves: [], all_user_states: [], all_user_screenshots: []
}

/** Selects the assets of a ROM that the caller can read, newest first, in one query. */
async function selectRomAssets ({ db, caller }: Context<AnyCaller>, romId: number): Promise<RomAssets> {
  const rows = await selectAssets(db, allOf([isOfRom(romId), isLive, isShared(caller)]))
  const own = (row: AssetRow) => row.user_id === userIdOf(caller)
  const ofKind = (kind: AssetKind) => rows.filter((row) => row.kind === kind)
  const [saves, states, screenshots] = [ofKind('save'), ofKind('state'), ofKind('screenshot')]
  const thumbnailOf = createThumbnails(screenshots)
  const toSave = (row: AssetRow) => toSaveView(row, thumbnailOf(row), [])
  const toState = (row: AssetRow) => toStateView(row, thumbnailOf(row))
  return {
    user_saves: saves.filter(own).map(toSave),
    user_states: states.filter(own).map(toState),
    user_screenshots: screenshots.filter(own).map(toScreenshotView),
    all_user_saves: saves.map((row) => ({ ...toSave(row), ...toOwnerView(row) })),
    all_user_states: states.map((row) => ({ ...toState(row), ...toOwnerView(row) })),
    all_user_screenshots: screenshots.filter((row) => row.is_gallery)
      .map((row) => ({ ...toScreenshotView(row), ...toOwnerView(row) }))
  }
}

/** Returns the path of the picture of the caller's newest save of each ROM; skips ROMs without a picture. */
async function selectThumbnailPaths (
  { db, caller }: Context<AnyCaller>, romIds: readonly number[]
): Promise<Map<number, string>> {
  const rows = await selectThumbnails(db, userIdOf(caller), romIds)
  return new Map(rows.flatMap(({ rom_id: id, thumbnail: picture }) =>
    picture === null ? [] : [[id, downloadPathOf({ ...picture, kind: 'screenshot' })]]))
}

/** Asset fields and filters that ROMs include. */
export const romAssets: UserFiles = {
  fields: RomAssetFields,
  emptyDetails: NO_ASSETS,
  select: selectRomAssets,
  selectPictures: selectThumbnailPaths,
  hasFilesCondition: hasAsset,
  selectIds: idsWithAsset
}
