import { LockMode, UniqueConstraintViolationException } from '@mikro-orm/core'
import { requireGrant } from '../../core/access/auth.ts'
import type { Context } from '../../core/access/context.ts'
import { databaseDate } from '../../core/database/clock.ts'
import type { Db } from '../../core/database/db.ts'
import { inTransaction } from '../../core/database/transaction.ts'
import { badRequest, forbidden, notFound } from '../../core/errors.ts'
import { type AnyCaller, readsPublic } from '../platforms/visibility.ts'
import { User } from '../users/entities.ts'
import { QUOTA_CHARACTERS, type Quota, checkQuota } from '../users/quota.ts'
import { MusicPlaylist } from './entities.ts'
import { possibleIds, requireTracks, withoutRepeats } from './check-tracks.ts'
import { deleteEntries, insertEntries, measurePlaylists, orderEntries, selectEntries, selectPlaylists } from './playlist-rows.ts'
import type { MusicPlaylistView, NewPlaylist, PlaylistChange } from './schemas.ts'
import { toPlaylistView } from './views.ts'

const PLAYLISTS_MAX = 1_000
/** Limits one user's playlists, because lists show everybody all public ones. */
const QUOTA: Quota = {
  max: PLAYLISTS_MAX,
  tooMany: `You have ${PLAYLISTS_MAX} playlists already; delete one first`,
  tooLong: `The descriptions of your playlists would have more than ${QUOTA_CHARACTERS} characters; shorten some`,
  refuse: badRequest
}

const unknownPlaylist = (id: number) => notFound(`Playlist with id '${id}' not found`)
const refused = (id: number) => forbidden(`Permission denied for playlist with id '${id}'`)

/**
 * Runs work that stores a name.
 *
 * @throws ApiError BAD_REQUEST, with a text that apps show, if another playlist of the user has the name
 */
async function withName<T> (name: string | null | undefined, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (err) {
    if (err instanceof UniqueConstraintViolationException) throw badRequest(`Playlist with name '${name}' already exists`)
    throw err
  }
}

/** Checks the playlists of a user after a write. @throws ApiError BAD_REQUEST beyond the limits */
const checkPlaylists = (tx: Db, userId: number): Promise<void> =>
  checkQuota(tx, userId, () => measurePlaylists(tx, userId), QUOTA)

const isOpenTo = (caller: AnyCaller, playlist: MusicPlaylist): boolean =>
  playlist.is_public && readsPublic(caller, 'playlists')

/** @throws ApiError NOT_FOUND, also for a private playlist of another user */
export async function requireReadable ({ db, caller }: Context<AnyCaller>, id: number): Promise<void> {
  const playlist = await db.em.findOne(MusicPlaylist, { id })
  if (playlist === null || (playlist.user.id !== caller?.id && !isOpenTo(caller, playlist))) throw unknownPlaylist(id)
}

async function get (context: Context<AnyCaller>, id: number): Promise<MusicPlaylistView> {
  const [row] = await selectPlaylists(context, id)
  if (row === undefined) throw unknownPlaylist(id)
  return toPlaylistView(row)
}

/**
 * Runs work on a playlist of the caller while its row is locked.
 *
 * @throws ApiError NOT_FOUND, or FORBIDDEN for a public one of another user, for administrators too
 */
async function change<T> (
  { db, caller }: Context, id: number, work: (tx: Db, playlist: MusicPlaylist) => Promise<T>
): Promise<T> {
  return await inTransaction(db, async (tx) => {
    const playlist = await tx.em.findOne(MusicPlaylist, { id }, { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true })
    if (playlist === null) throw unknownPlaylist(id)
    if (playlist.user.id !== caller.id) throw isOpenTo(caller, playlist) ? refused(id) : unknownPlaylist(id)
    const done = await work(tx, playlist)
    await tx.em.flush()
    return done
  })
}

/** Returns the ids that a playlist contains. All other ids must be tracks that the caller sees. */
async function findEntries (
  context: Context, id: number, given: readonly number[]
): Promise<number[]> {
  const { db: tx } = context
  const entries = new Set(await selectEntries(tx, id, possibleIds(given)))
  await requireTracks(context, given.filter((one) => !entries.has(one)))
  return withoutRepeats(given).filter((one) => entries.has(one))
}

export const playlists = {
  async get (context: Context<AnyCaller>, id: number): Promise<MusicPlaylistView> {
    await requireReadable(context, id)
    return await get(context, id)
  },

  list: async (context: Context<AnyCaller>): Promise<MusicPlaylistView[]> =>
    (await selectPlaylists(context)).map(toPlaylistView),

  async create (context: Context, { name, description = null, is_public: isPublic }: NewPlaylist) {
    const { db, caller } = context
    const id = await withName(name, () => inTransaction(db, async (tx) => {
      const playlist = tx.em.create(MusicPlaylist, {
        user: tx.em.getReference(User, caller.id), name, description, is_public: isPublic
      })
      await tx.em.flush()
      await checkPlaylists(tx, caller.id)
      return playlist.id
    }))
    return await get(context, id)
  },

  async update (context: Context, id: number, given: PlaylistChange): Promise<MusicPlaylistView> {
    const fields = {
      ...(typeof given.name === 'string' ? { name: given.name } : {}),
      ...(given.description === undefined ? {} : { description: given.description }),
      ...(typeof given.is_public === 'boolean' ? { is_public: given.is_public } : {})
    }
    await withName(given.name, () => change(context, id, async (tx, playlist) => {
      if (Object.keys(fields).length === 0) return
      tx.em.assign(playlist, { ...fields, updated_at: databaseDate() })
      if (fields.description === undefined) return
      await tx.em.flush()
      await checkPlaylists(tx, context.caller.id)
    }))
    return await get(context, id)
  },

  async delete (context: Context, id: number): Promise<void> {
    const { caller } = context
    await change(context, id, async (tx, playlist) => {
      requireGrant(caller, 'playlists', 'delete', true)
      tx.em.remove(playlist)
    })
  },

  /** @returns the number of new entries */
  add: (context: Context, id: number, given: readonly number[]): Promise<number> =>
    change(context, id, async (tx, playlist) => {
      await requireTracks({ db: tx, caller: context.caller }, given)
      const added = await insertEntries(tx, id, withoutRepeats(given))
      if (added > 0) tx.em.assign(playlist, { updated_at: databaseDate() })
      return added
    }),

  /**
   * Removes tracks, including those that the caller does not see any more.
   *
   * @returns the number of removed entries
   */
  remove: (context: Context, id: number, given: readonly number[]): Promise<number> =>
    change(context, id, async (tx, playlist) => {
      const removed = await deleteEntries(tx, id, await findEntries({ db: tx, caller: context.caller }, id, given))
      if (removed > 0) tx.em.assign(playlist, { updated_at: databaseDate() })
      return removed
    }),

  /**
   * Moves these tracks to the start, in this order.
   *
   * @throws ApiError BAD_REQUEST for a track that is not in the playlist
   */
  order: (context: Context, id: number, given: readonly number[]): Promise<void> =>
    change(context, id, async (tx, playlist) => {
      const ids = await findEntries({ db: tx, caller: context.caller }, id, given)
      if (ids.length < withoutRepeats(given).length) throw badRequest('Payload contains tracks that are not in the playlist')
      await orderEntries(tx, id, ids)
      tx.em.assign(playlist, { updated_at: databaseDate() })
    })
}
