import { sql } from 'kysely'
import type { Context } from '../../core/access/context.ts'
import { selectMilliseconds } from '../../core/database/columns.ts'
import type { Db } from '../../core/database/db.ts'
import { type AnyCaller, isPlatformVisible } from '../platforms/visibility.ts'

/** The platform of an upload. */
export interface UploadPlatform { id: number, fs_slug: string }

/** Null when it is not there or not visible. */
export async function selectPlatform (
  { db, caller }: Context<AnyCaller>, id: number
): Promise<UploadPlatform | null> {
  const { rows } = await sql<UploadPlatform>`select p.id, p.fs_slug from platforms p
    where p.id = ${id} and ${isPlatformVisible(caller)}`.execute(db)
  return rows[0] ?? null
}

/** An upload in chunks. */
export interface Upload {
  id: string
  user_id: number
  platform_id: number
  library_id: number
  fs_path: string
  file_name: string
  total_size: number
  total_chunks: number
  /** The size of all chunks but the last, as far as known. */
  chunk_size: number | null
}

/** A completely received chunk. */
export interface Chunk {
  number: number
  size: number
  /** True if the chunk lies in its own file instead of the file of the upload. Stored in the column `is_apart`. */
  has_own_file: boolean
}

export const LIFETIME_HOURS = 24
/** Excludes reservations for whole files. */
const IS_CHUNKED = sql`total_chunks > 0`
const IS_OPEN = sql`created_at > now() - ${LIFETIME_HOURS} * interval '1 hour'`

export async function insertUpload (db: Db, upload: Omit<Upload, 'chunk_size'>): Promise<void> {
  await sql`insert into rom_uploads (id, user_id, platform_id, library_id, fs_path, file_name, total_size, total_chunks)
    values (${upload.id}, ${upload.user_id}, ${upload.platform_id}, ${upload.library_id}, ${upload.fs_path},
      ${upload.file_name}, ${upload.total_size}, ${upload.total_chunks})`.execute(db)
}

/** Returns an upload; null if no upload has the id or its time is over. */
export async function selectUpload (
  db: Db, id: string
): Promise<Upload & { created_at: number } | null> {
  const { rows } = await sql<Upload & { created_at: number }>`select id, user_id, platform_id, library_id, fs_path, file_name,
      total_size::float8 as total_size, total_chunks, chunk_size::float8 as chunk_size,
      ${selectMilliseconds('created_at')} as created_at
    from rom_uploads where id = ${id} and ${IS_OPEN} and ${IS_CHUNKED}`.execute(db)
  return rows[0] ?? null
}

/** Stores the size of a whole file while it arrives. No chunks mark it. @param worker the process that receives it */
export async function insertReservation (
  db: Db, upload: Omit<Upload, 'chunk_size' | 'total_chunks'>, worker: string
): Promise<void> {
  await insertUpload(db, { ...upload, total_chunks: 0 })
  await sql`update rom_uploads set assembled_by = ${worker} where id = ${upload.id}`.execute(db)
}

export async function resizeReservation (db: Db, id: string, size: number): Promise<void> {
  await sql`update rom_uploads set total_size = ${size} where id = ${id}`.execute(db)
}

/** Deletes reservations of a user by processes that ended. */
export async function deleteDeadReservations (
  db: Db, userId: number, alive: readonly string[]
): Promise<void> {
  await sql`delete from rom_uploads where user_id = ${userId} and total_chunks = 0
    and assembled_by <> all(${alive}::text[])`.execute(db)
}

/** Returns the bytes of a user's uploads without one of them. */
export async function measureOthers (db: Db, userId: number, id: string): Promise<number> {
  const { rows } = await sql<{ bytes: number }>`select coalesce(sum(total_size), 0)::float8 as bytes
    from rom_uploads where user_id = ${userId} and id <> ${id} and ${IS_OPEN}`.execute(db)
  return rows[0]?.bytes ?? 0
}

/** The bytes that chunked uploads of all users still have to send; the number and the bytes of one user's uploads. */
export interface OpenUploads { awaited_bytes: number, own_count: number, own_bytes: number }

export async function measureOpen (db: Db, userId: number): Promise<OpenUploads> {
  const { rows: [row] } = await sql<OpenUploads>`select
      coalesce(sum(u.total_size - least(u.total_size, c.received)) filter (where ${IS_CHUNKED}), 0)::float8 as awaited_bytes,
      (count(*) filter (where u.user_id = ${userId} and ${IS_CHUNKED}))::int as own_count,
      coalesce(sum(u.total_size) filter (where u.user_id = ${userId}), 0)::float8 as own_bytes
    from (select * from rom_uploads where ${IS_OPEN}) u
    cross join lateral (select coalesce(sum(size), 0) as received from rom_upload_chunks where upload_id = u.id) c`
    .execute(db)
  return row ?? { awaited_bytes: 0, own_count: 0, own_bytes: 0 }
}

/** Stores the chunk size of an upload, unless an earlier chunk did. @returns the stored size */
export async function fixChunkSize (db: Db, id: string, size: number): Promise<number | null> {
  const { rows } = await sql<{ chunk_size: number }>`update rom_uploads set chunk_size = coalesce(chunk_size, ${size})
    where id = ${id} returning chunk_size::float8 as chunk_size`.execute(db)
  return rows[0]?.chunk_size ?? null
}

/** Stores that a chunk was received. @returns the number of received chunks */
export async function upsertChunk (
  db: Db, id: string, { number, size, has_own_file: hasOwnFile }: Chunk
): Promise<number> {
  const { rows } = await sql<{ received: number }>`with put as (
      insert into rom_upload_chunks (upload_id, number, size, is_apart) values (${id}, ${number}, ${size}, ${hasOwnFile})
      on conflict (upload_id, number) do update set size = excluded.size, is_apart = excluded.is_apart returning 1
    ) select ((select count(*) from rom_upload_chunks where upload_id = ${id} and number <> ${number}) +
      (select count(*) from put))::int as received`.execute(db)
  return rows[0]?.received ?? 0
}

/** Deletes a chunk whose bytes do not match the sender's digest. */
export async function deleteChunk (db: Db, id: string, number: number): Promise<void> {
  await sql`delete from rom_upload_chunks where upload_id = ${id} and number = ${number}`.execute(db)
}

/** Returns the chunks in the order of their numbers. */
export async function selectChunks (db: Db, id: string): Promise<Chunk[]> {
  const { rows } = await sql<Chunk>`select number, size::float8 as size, is_apart as has_own_file from rom_upload_chunks
    where upload_id = ${id} order by number`.execute(db)
  return rows
}

/** A chunk that a process is writing into the file of its upload. */
export interface ChunkWrite { id: string, upload_id: string, worker_id: string }

/**
 * Stores that a process writes into the file of an upload.
 *
 * @returns false, and stores nothing, if a process has claimed the upload to complete it
 */
export async function insertWrite (db: Db, write: ChunkWrite): Promise<boolean> {
  // The lock makes a concurrent claim wait, so its process sees the row, or this statement sees the claim.
  const { rows } = await sql`insert into rom_upload_writes (id, upload_id, worker_id)
    select ${write.id}, id, ${write.worker_id} from rom_uploads
    where id = ${write.upload_id} and assembled_by is null for share returning id`.execute(db)
  return rows.length === 1
}

export async function deleteWrite (db: Db, id: string): Promise<void> {
  await sql`delete from rom_upload_writes where id = ${id}`.execute(db)
}

/** True if a live process writes into the file of an upload. */
export async function hasOpenWrites (db: Db, uploadId: string, alive: readonly string[]): Promise<boolean> {
  const { rows } = await sql`select from rom_upload_writes
    where upload_id = ${uploadId} and worker_id = any(${alive}::text[]) limit 1`.execute(db)
  return rows.length === 1
}

/** Claims an upload for a process to complete. @returns false if another live process has claimed it */
export async function claimUpload (
  db: Db, id: string, worker: string, alive: readonly string[]
): Promise<boolean> {
  const { rows } = await sql`update rom_uploads set assembled_by = ${worker}
    where id = ${id} and (assembled_by is null or assembled_by <> all(${alive}::text[])) returning id`.execute(db)
  return rows.length === 1
}

export async function releaseUpload (db: Db, id: string): Promise<void> {
  await sql`update rom_uploads set assembled_by = null where id = ${id}`.execute(db)
}

export async function deleteUpload (db: Db, id: string): Promise<void> {
  await sql`delete from rom_uploads where id = ${id}`.execute(db)
}

/** Returns the ids of unexpired rows: of uploads in chunks, and of reservations for whole files. */
export async function selectOpenIds (db: Db): Promise<ReadonlySet<string>> {
  const { rows } = await db.query<{ id: string }>(
    "select id from rom_uploads where created_at > now() - $1 * interval '1 hour'", [LIFETIME_HOURS])
  return new Set(rows.map(({ id }) => id))
}

/** Deletes expired uploads. @returns their ids */
export async function deleteExpired (db: Db): Promise<ReadonlySet<string>> {
  const { rows } = await db.query<{ id: string }>(
    "delete from rom_uploads where created_at <= now() - $1 * interval '1 hour' returning id", [LIFETIME_HOURS])
  return new Set(rows.map(({ id }) => id))
}
