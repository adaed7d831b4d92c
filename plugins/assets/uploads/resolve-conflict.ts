import type { Readable } from 'node:stream'
import { LockMode } from '@mikro-orm/postgresql'
import { requireGrant } from '../../../core/access/auth.ts'
import type { Context } from '../../../core/access/context.ts'
import type { Db } from '../../../core/database/db.ts'
import { conflict } from '../../../core/errors.ts'
import { type Files, type StagedFile, missingFile } from '../asset-files.ts'
import { ownName } from '../asset-names.ts'
import { Asset, type AssetRef } from '../entities.ts'
import { getOwn } from '../read-assets.ts'
import type { AssetRow } from '../rows.ts'
import type { ResolveInput } from '../schemas.ts'
import { isDeleted, lineageOf, load, ownFolder, restoreAsset } from './change-assets.ts'
import type { ThumbnailStore } from './thumbnail-store.ts'
import type { AssetWriting } from './upload-assets.ts'
import type { WriteContext } from './write-transaction.ts'

interface Contents {
  open: Files['open']
  stage (db: Db, userId: number, name: string, content: Readable): Promise<StagedFile>
}
/** Both sides of a conflict, within the transaction that resolves it. The original may be deleted, or gone for good. */
interface Sides { original: Asset | null, copy: Asset }

/** Returns the word that tells a copy from its original: the device that sent it, else its day. */
const labelOf = ({ origin_device: device, updated_at: at }: Asset): string => {
  const name = device?.name?.trim() ?? ''
  return name === '' ? at.toISOString().slice(0, 10) : name
}

/** Loads both sides. @throws ApiError NOT_FOUND · CONFLICT if somebody else resolved the conflict meanwhile */
async function loadSides (writing: WriteContext, row: AssetRow): Promise<Sides> {
  const copy = await load(writing, row)
  if (typeof copy.conflict_of !== 'number') {
    throw conflict(`'${row.file_name}' is no conflict copy any more; fetch the current state`)
  }
  await writing.tx.em.populate(copy, ['origin_device'])
  const original = await writing.tx.em.findOne(Asset,
    { id: copy.conflict_of, user: row.user_id, kind: row.kind }, { lockMode: LockMode.PESSIMISTIC_WRITE })
  return { original, copy }
}

async function deleteCopy (thumbnails: ThumbnailStore, writing: WriteContext, { copy }: Sides): Promise<void> {
  writing.tx.em.assign(copy, { deleted_at: writing.now, deleted_by: 'owner' })
  await writing.tx.em.flush()
  await thumbnails.delete(writing, [copy])
}

/** Makes the copy an asset of its own. */
async function separate (thumbnails: ThumbnailStore, writing: WriteContext, { original, copy }: Sides): Promise<void> {
  const peers = await writing.tx.em.find(Asset,
    { user: copy.user, rom: copy.rom ?? null, kind: copy.kind, deleted_at: null }, { fields: ['file_name'] })
  const { file_name: formerName } = copy
  const taken = new Set(peers.map(({ file_name: name }) => name))
  copy.file_name = ownName(original?.file_name ?? copy.file_name, labelOf(copy), taken)
  copy.conflict_of = null
  await thumbnails.rename(writing, copy, formerName)
}

/** Creates the resolution of conflicts. Each is one transaction, and no content is lost. */
export function createConflicts ({ writes, thumbnails }: Pick<AssetWriting, 'writes' | 'thumbnails'>, { open, stage }: Contents) {
  async function stageCopy ({ db }: Context, copy: AssetRow): Promise<StagedFile> {
    const object = await open(copy.disk_path)
    if (object === null) throw missingFile(copy.file_name)
    try {
      return await stage(db, copy.user_id, copy.file_name, object.read(0, object.size))
    } finally {
      await object.close()
    }
  }

  return {
    /**
     * Resolves the conflict of a copy. A deleted original is restored if one side is kept. If the original is gone for
     * good, the copy becomes an asset of its own.
     *
     * @returns the id of the asset that remains: the original, or the copy if both remain
     * @throws ApiError NOT_FOUND · CONFLICT if the asset is no conflict copy · NO_FREE_SPACE
     */
    async resolveConflict (context: Context, ref: AssetRef<'save' | 'state'>, keep: ResolveInput['keep']): Promise<number> {
      if (keep !== 'both') requireGrant(context.caller, 'assets', 'delete', true)
      const row = await getOwn(context, ref)
      // Content is read before the transaction, because others would wait for a large file.
      const staged = keep === 'copy' ? await stageCopy(context, row) : null
      try {
        return await writes.run(context.db, [lineageOf(row)], async (writing) => {
          const sides = await loadSides(writing, row)
          const { original, copy } = sides
          if (keep === 'both' || original === null) {
            await separate(thumbnails, writing, sides)
            return copy.id
          }
          if (isDeleted(original)) await restoreAsset(thumbnails, writing, original)
          if (staged !== null) {
            if (staged.sha1 !== copy.sha1) throw conflict(`'${copy.file_name}' changed at the same moment; fetch the current state and try again`)
            await writes.replace(writing, original, {
              file: staged,
              folder: ownFolder(original),
              client_mtime: copy.client_mtime ?? null,
              device_id: copy.content_device?.id ?? null
            })
          }
          await deleteCopy(thumbnails, writing, sides)
          return original.id
        })
      } finally {
        await staged?.discard()
      }
    }
  }
}
