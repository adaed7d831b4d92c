import { type RawBuilder, sql } from 'kysely'
import type { EntityManager } from '@mikro-orm/postgresql'
import { hasValues, milliseconds } from '../../core/database/columns.ts'
import type { AnyCaller } from '../platforms/visibility.ts'
import { isRomVisible } from '../roms/visibility.ts'
import type { ReportInstall } from './schemas.ts'
import type { InstallRow } from './views.ts'

const COLUMNS = sql`i.id, i.user_id, i.device_id, d.device_id as device_uuid, d.is_numbered, i.rom_id, i.file_ids, i.status, i.reason,
  ${milliseconds('i.created_at')} as created_at, ${milliseconds('i.updated_at')} as updated_at`
const IS_LIVE = sql<boolean>`i.status in ('pending', 'taken')`
/** In no list any more; they stay for a day for a device that did not hear that its report arrived. */
const ENDED_KEPT = sql`interval '1 day'`

type NewInstall = Pick<InstallRow, 'user_id' | 'device_id' | 'rom_id' | 'file_ids'>

/** Which requests: those that have all of this. */
export interface InstallSelection {
  user_id?: number
  /** The integer one. */
  device_id?: number
  rom_id?: number
  status?: InstallRow['status']
}

/** @param ttlDays after which a request that nothing happens to counts as gone; 0 for never */
export function createInstallRows (ttlDays: number) {
  const isFresh = ttlDays === 0
    ? sql<boolean>`true`
    : sql<boolean>`i.updated_at > now() - make_interval(secs => ${ttlDays * 86_400}::float)`

  async function run<Row> (em: EntityManager, statement: RawBuilder<Row>): Promise<Row[]> {
    return (await statement.execute(em.getKysely())).rows
  }

  /** The live requests of ROMs that a viewer sees, oldest first. */
  const select = (em: EntityManager, caller: AnyCaller, selection: InstallSelection) => run(em, sql<InstallRow>`select ${COLUMNS}
    from install_requests i join devices d on d.id = i.device_id
      join roms r on r.id = i.rom_id join platforms p on p.id = r.platform_id
    where ${IS_LIVE} and ${isFresh} and ${isRomVisible(caller)} and ${hasValues('i', { ...selection })}
    order by i.created_at, i.id`)

  return {
    select,

    /** A request for these files; null while there is a live one for the same ROM and device, or either is gone. */
    async insert (em: EntityManager, row: NewInstall): Promise<InstallRow | null> {
      const [inserted] = await run(em, sql<InstallRow>`with i as (
        insert into install_requests (user_id, device_id, rom_id, file_ids)
        select ${row.user_id}::int, d.id, r.id, ${row.file_ids}::int[] from devices d, roms r
        where d.id = ${row.device_id} and r.id = ${row.rom_id} for key share
        on conflict (user_id, device_id, rom_id) where status in ('pending', 'taken') do nothing returning *
      ) select ${COLUMNS} from i join devices d on d.id = i.device_id`)
      return inserted ?? null
    },

    /** Makes way for a new request where the old one counts as gone. */
    async dropStale (em: EntityManager, deviceId: number, romId: number): Promise<void> {
      await run(em, sql`delete from install_requests i
        where i.device_id = ${deviceId} and i.rom_id = ${romId} and not ${isFresh}`)
    },

    /**
     * Takes what waits for a device. Each request is taken by one call only, however many run at once; the rows are
     * locked in one order so that two calls do not wait for each other.
     */
    take: (em: EntityManager, caller: AnyCaller, deviceId: number) => run(em, sql<InstallRow>`with waiting as (
        select i.id from install_requests i join roms r on r.id = i.rom_id join platforms p on p.id = r.platform_id
        where i.device_id = ${deviceId} and i.status = 'pending' and ${isFresh} and ${isRomVisible(caller)}
        order by i.created_at, i.id for update of i
      )
      update install_requests i set status = 'taken', updated_at = now() from waiting, devices d
      where i.id = waiting.id and d.id = i.device_id returning ${COLUMNS}`),

    /** What a device says became of a request that it took; null when it holds no such request. */
    async finish (
      em: EntityManager, deviceId: number, id: string, { status, reason = null }: ReportInstall
    ): Promise<InstallRow | null> {
      const [finished] = await run(em, sql<InstallRow>`update install_requests i
        set status = ${status}, reason = ${reason}, updated_at = now() from devices d
        where i.id = ${id} and i.device_id = ${deviceId} and i.status = 'taken' and ${isFresh} and d.id = i.device_id
        returning ${COLUMNS}`)
      return finished ?? null
    },

    /** A request that ended as a device says once more; null when there is none. */
    async findEnded (
      em: EntityManager, deviceId: number, id: string, status: ReportInstall['status']
    ): Promise<InstallRow | null> {
      const [ended] = await run(em, sql<InstallRow>`select ${COLUMNS} from install_requests i
        join devices d on d.id = i.device_id
        where i.id = ${id} and i.device_id = ${deviceId} and i.status = ${status} and ${isFresh}`)
      return ended ?? null
    },

    /** Null when the request has ended or counts as gone, or its ROM is hidden from the viewer. */
    async cancel (em: EntityManager, caller: AnyCaller, deviceId: number, id: string): Promise<InstallRow | null> {
      const [cancelled] = await run(em, sql<InstallRow>`update install_requests i
        set status = 'cancelled', updated_at = now()
        from devices d, roms r join platforms p on p.id = r.platform_id
        where i.id = ${id} and i.device_id = ${deviceId} and ${IS_LIVE} and ${isFresh} and d.id = i.device_id
          and r.id = i.rom_id and ${isRomVisible(caller)}
        returning ${COLUMNS}`)
      return cancelled ?? null
    },

    /** Whether a request waits to be taken. */
    async isPending (em: EntityManager, deviceId: number, id: string): Promise<boolean> {
      const rows = await run(em, sql`select 1 from install_requests i
        where i.id = ${id} and i.device_id = ${deviceId} and i.status = 'pending' and ${isFresh}`)
      return rows.length > 0
    },

    /** Removes those that ended and those that count as gone. */
    async purge (em: EntityManager): Promise<void> {
      await run(em, sql`delete from install_requests i
        where not ${isFresh} or (not ${IS_LIVE} and i.updated_at < now() - ${ENDED_KEPT})`)
    }
  }
}
