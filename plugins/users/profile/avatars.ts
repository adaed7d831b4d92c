import { randomUUID } from 'node:crypto'
import { open, rm, rmdir } from 'node:fs/promises'
import { basename, join } from 'node:path'
import type { Config } from '../../../core/config/config.ts'
import { badRequest, notFound } from '../../../core/errors.ts'
import { requireFreeSpace } from '../../../core/files/free-space.ts'
import { makeFolder } from '../../../core/store/fs-store.ts'
import { openIfPresent } from '../../../core/store/open-object.ts'
import type { Store } from '../../../core/store/store.ts'
import type { ObjectReply } from '../../resources/file-reply.ts'
import { PIXELS_MAX, openImage } from '../../resources/image.ts'
import { mediaTypeOf } from '../../resources/media-types.ts'
import { errorCode } from '../../../core/files/fs-error.ts'
import type { User } from '../entities.ts'
import { userFolder } from '../user-folder.ts'

const STEM = 'avatar'
/** Types that a browser shows; files of all other types can only be saved. */
const SHOWN_TYPES = new Set(['image/png', 'image/jpeg', 'image/webp', 'image/gif'])

/** The first bytes of each type. The decoder supports many more formats and receives only these. */
const KINDS = [
  { format: 'png', extension: 'png', offset: 0, mark: '\x89PNG\r\n\x1a\n' },
  { format: 'jpeg', extension: 'jpg', offset: 0, mark: '\xff\xd8\xff' },
  { format: 'webp', extension: 'webp', offset: 8, mark: 'WEBP' },
  { format: 'gif', extension: 'gif', offset: 0, mark: 'GIF8' }
] as const

const refused = (reason: string) => badRequest(`The avatar ${reason}; send a PNG, JPEG, WebP or GIF picture`)

/** Returns the extension that fits a picture's content, whatever its name. @throws ApiError BAD_REQUEST */
export async function readExtension (content: Buffer): Promise<string> {
  const kind = KINDS.find(({ mark, offset }) => content.toString('latin1', offset, offset + mark.length) === mark)
  if (kind === undefined) throw refused('is no picture')
  const { format, width, height } = await (await openImage(content)).metadata().catch((err: unknown) => {
    throw refused(`cannot be read (${err instanceof Error ? err.message : String(err)})`)
  })
  if (format !== kind.format) throw refused(`is neither ${kind.format} nor another kind that is accepted`)
  if (width * height > PIXELS_MAX) throw refused(`has ${width} × ${height} pixels, more than 50 million`)
  return kind.extension
}

/** A picture in staging, in the folder of its final path. */
export interface StagedAvatar {
  /** Relative to the assets folder. */
  path: string
  /** Replaces the former picture in one step. */
  publish (): Promise<void>
  /** Deletes the picture unless it was published. */
  discard (): Promise<void>
}

async function writeNew (path: string, content: Buffer): Promise<void> {
  const handle = await open(path, 'wx')
  try {
    await handle.writeFile(content)
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** The folder of uploads in the store, to which the paths of pictures are relative. */
const ASSETS = 'assets'

const folderOf = (user: Pick<User, 'folder'>) => `${userFolder(user)}/profile`

/** Opens a picture to send. @throws ApiError NOT_FOUND if there is none. */
async function openAvatar (store: Store, path: string): Promise<ObjectReply> {
  const object = path === '' ? null : await openIfPresent(store, `${ASSETS}/${path}`)
  if (object === null) throw notFound('This user has no avatar')
  const type = mediaTypeOf(path) ?? ''
  const isShown = SHOWN_TYPES.has(type)
  return {
    object,
    type: isShown ? type : 'application/octet-stream',
    cacheControl: 'private, no-cache',
    disposition: { type: isShown ? 'inline' : 'attachment', fileName: basename(path) }
  }
}

export function createAvatars (config: Config, store: Store) {
  const assetsDir = join(config.data_dir, ASSETS)

  /** Deletes the pictures of a user, except one. */
  async function deletePictures (user: Pick<User, 'folder'>, keptName?: string): Promise<void> {
    const keys: string[] = []
    for await (const { key } of store.list(`${ASSETS}/${folderOf(user)}`)) {
      if (basename(key) !== keptName) keys.push(key)
    }
    await store.delete(keys)
  }

  return {
    /** @throws ApiError BAD_REQUEST if the content is no accepted picture, NO_FREE_SPACE. */
    async stage (user: Pick<User, 'folder'>, content: Buffer): Promise<StagedAvatar> {
      const extension = await readExtension(content)
      const folder = join(assetsDir, folderOf(user))
      const name = `${STEM}.${extension}`
      const part = join(folder, `.${randomUUID()}.tmp`)
      await requireFreeSpace(folder, content.length)
      await makeFolder(folder)
      await writeNew(part, content)
      const staged = await store.stage(part)
      return {
        path: `${folderOf(user)}/${name}`,
        async publish () {
          await staged.publish(`${ASSETS}/${folderOf(user)}/${name}`)
          await deletePictures(user, name)
        },
        discard: () => staged.discard()
      }
    },

    /** Prepares the removal of a user's picture. */
    stageRemoval: (user: Pick<User, 'folder'>): StagedAvatar => ({
      path: '',
      publish: () => deletePictures(user),
      discard: async () => {}
    }),

    /** Opens a picture to send. @throws ApiError NOT_FOUND if there is none. */
    open: (path: string): Promise<ObjectReply> => openAvatar(store, path),

    /** Deletes a user's pictures, and the user's folder on this machine if no other upload is in it. */
    async delete (user: Pick<User, 'folder'>): Promise<void> {
      await deletePictures(user)
      await rm(join(assetsDir, folderOf(user)), { recursive: true, force: true })
      await rmdir(join(assetsDir, userFolder(user))).catch((err: unknown) => {
        if (!['ENOENT', 'ENOTEMPTY'].includes(errorCode(err))) throw err
      })
    }
  }
}
export type Avatars = ReturnType<typeof createAvatars>
