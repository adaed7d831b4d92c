import { type RawBuilder, sql } from 'kysely'
import type { Context } from '../../core/access/context.ts'
import { hasValues, selectMilliseconds } from '../../core/database/columns.ts'
import type { Db } from '../../core/database/db.ts'
import type { AnyCaller } from '../platforms/visibility.ts'
import { isRomVisible } from '../roms/visibility.ts'
import type { ReportInstall } from './schemas.ts'
import type { InstallRow } from './views.ts'

const COLUMNS = sql`i.id, i.user_id, i.device_id, d.device_id as device_uuid, d.is_numbered, i.rom_id, i.file_ids, i.status, i.percent, i.reason,
  ${selectMilliseconds('i.created_at')} as created_at, ${selectMilliseconds('i.updated_at')} as updated_at`
const IS_LIVE = sql<boolean>`i.status in ('pending', 'taken')`
/** Ended requests are in no list. They stay for a day for a device that missed the response to its report. */
const ENDED_LIFETIME = sql`interval '1 day'`

type NewInstall = Pick<InstallRow, 'user_id' | 'device_id' | 'rom_id' | 'file_ids'>

/** Conditions on requests; all given values must match. */
export interface InstallSelection {
  user_id?: number
  /** Integer id of the device. */
  device_id?: number
  rom_id?: number
  status?: InstallRow['status']
}

interface Progress { device_id: number, id: string, percent: number }

/**
 * Stores the progress of a claimed request; selects no row if the device holds no such request. `is_news` is false if
 * the percentage is the stored one.
 */
const updateProgress = (isFresh: RawBuilder<boolean>, { device_id: device, id, percent }: Progress) =>
  sql<InstallRow & { is_news: boolean }>`update install_requests i
    set percent = ${percent}, updated_at = now() from devices d, install_requests former
    where i.id = ${id} and i.device_id = ${device} and i.status = 'taken' and ${isFresh} and d.id = i.device_id and former.id = i.id
    returning ${COLUMNS}, former.percent is distinct from ${percent}::int as is_news`

/** @param ttlDays days after which a request without progress counts as expired; 0 for never */
export function createInstallRows (ttlDays: number) {
  const isFresh = ttlDays === 0
    ? sql<boolean>`true`
    : sql<boolean>`i.updated_at > now() - make_interval(secs => ${ttlDays * 86_400}::float)`

  async function run<Row> (db: Db, statement: RawBuilder<Row>): Promise<Row[]> {
    return (await statement.execute(db)).rows
  }

  /** Selects live requests whose ROM is visible to the caller, oldest first. */
  const select = ({ db, caller }: Context<AnyCaller>, selection: InstallSelection) => run(db, sql<InstallRow>`select ${COLUMNS}
    from install_requests i join devices d on d.id = i.device_id
      join roms r on r.id = i.rom_id join platforms p on p.id = r.platform_id
    where ${IS_LIVE} and ${isFresh} and ${isRomVisible(caller)} and ${hasValues('i', { ...selection })}
    order by i.created_at, i.id`)

  return {
    select,

    /**
     * Inserts a request for these files. Returns null if there is a live one for the same ROM and device, or either is
     * gone.
     */
    async insert (db: Db, row: NewInstall): Promise<InstallRow | null> {
      const [inserted] = await run(db, sql<InstallRow>`with i as (
        insert into install_requests (user_id, device_id, rom_id, file_ids)
        select ${row.user_id}::int, d.id, r.id, ${row.file_ids}::int[] from devices d, roms r
        where d.id = ${row.device_id} and r.id = ${row.rom_id} for key share
        on conflict (user_id, device_id, rom_id) where status in ('pending', 'taken') do nothing returning *
      ) select ${COLUMNS} from i join devices d on d.id = i.device_id`)
      return inserted ?? null
    },

    /** Deletes an expired request, which would block a new one. */
    async dropStale (db: Db, deviceId: number, romId: number): Promise<void> {
      await run(db, sql`delete from install_requests i
        where i.device_id = ${deviceId} and i.rom_id = ${romId} and not ${isFresh}`)
    },

    /**
     * Claims the pending requests of a device. Concurrent calls claim each request only once; the fixed order of locks
     * prevents deadlocks.
     */
    claimPending: ({ db, caller }: Context<AnyCaller>, deviceId: number) => run(db, sql<InstallRow>`with waiting as (
        select i.id from install_requests i join roms r on r.id = i.rom_id join platforms p on p.id = r.platform_id
        where i.device_id = ${deviceId} and i.status = 'pending' and ${isFresh} and ${isRomVisible(caller)}
        order by i.created_at, i.id for update of i
      )
      update install_requests i set status = 'taken', percent = null, updated_at = now() from waiting, devices d
      where i.id = waiting.id and d.id = i.device_id returning ${COLUMNS}`),

    /**
     * Stores the result that a device reports for a claimed request; returns null if the device holds no such request.
     */
    async finish (
      db: Db, deviceId: number, id: string, { status, reason = null }: ReportInstall
    ): Promise<InstallRow | null> {
      const [finished] = await run(db, sql<InstallRow>`update install_requests i
        set status = ${status}, reason = ${reason}, updated_at = now() from devices d
        where i.id = ${id} and i.device_id = ${deviceId} and i.status = 'taken' and ${isFresh} and d.id = i.device_id
        returning ${COLUMNS}`)
      return finished ?? null
    },

    storeProgress: async (db: Db, progress: Progress) => (await run(db, updateProgress(isFresh, progress)))[0] ?? null,

    /** Returns a request that ended with the status that a device reports again; null if there is none. */
    async findEnded (
      db: Db, deviceId: number, id: string, status: ReportInstall['status']
    ): Promise<InstallRow | null> {
      const [ended] = await run(db, sql<InstallRow>`select ${COLUMNS} from install_requests i
        join devices d on d.id = i.device_id
        where i.id = ${id} and i.device_id = ${deviceId} and i.status = ${status} and ${isFresh}`)
      return ended ?? null
    },

    /** Cancels a request. Returns null if it ended or expired, or if its ROM is hidden from the caller. */
    async cancel ({ db, caller }: Context<AnyCaller>, deviceId: number, id: string): Promise<InstallRow | null> {
      const [cancelled] = await run(db, sql<InstallRow>`update install_requests i
        set status = 'cancelled', updated_at = now()
        from devices d, roms r join platforms p on p.id = r.platform_id
        where i.id = ${id} and i.device_id = ${deviceId} and ${IS_LIVE} and ${isFresh} and d.id = i.device_id
          and r.id = i.rom_id and ${isRomVisible(caller)}
        returning ${COLUMNS}`)
      return cancelled ?? null
    },

    /** True if a request waits to be claimed. */
    async isPending (db: Db, deviceId: number, id: string): Promise<boolean> {
      return (await run(db, sql`select 1 from install_requests i where i.id = ${id} and i.device_id = ${deviceId} and i.status = 'pending' and ${isFresh}`)).length > 0
    },

    /** Deletes ended and expired requests. */
    async purge (db: Db): Promise<void> {
      await run(db, sql`delete from install_requests i
        where not ${isFresh} or (not ${IS_LIVE} and i.updated_at < now() - ${ENDED_LIFETIME})`)
    }
  }
}
export type InstallRows = ReturnType<typeof createInstallRows>
