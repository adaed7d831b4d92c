import { SourceError } from '../contract.ts'
import type { TableReader } from './tables/table-rows.ts'

/** The revision of RomM 4.0, from which on assets lie below the id of their ROM. */
const OLDEST = 45
/** The newest revision that this reader was written for. */
const NEWEST = 108

/** The last revision of each release. */
const RELEASES = [
  [45, '4.0'], [48, '4.1'], [50, '4.2'], [54, '4.3'], [56, '4.4'], [58, '4.5'], [67, '4.6'], [69, '4.7'], [72, '4.8'],
  [82, '4.9'], [95, '5.0'], [103, '5.1'], [107, '5.2'], [NEWEST, '5.2 or later']
] as const

export interface RommVersion {
  /** The name of the release, such as `5.2`. */
  readonly release: string
  /** The revision of the database, such as `0107`. */
  readonly revision: string
  readonly isNewer: boolean
}

/** @throws SourceError if the database is not RomM's or is older than 4.0. */
export async function readVersion (tables: TableReader): Promise<RommVersion> {
  const versions: string[] = []
  for await (const rows of tables.read('alembic_version', ['version_num'], ['version_num'])) {
    for (const row of rows) versions.push(row.version_num ?? '')
  }
  const numbers = versions.map((version) => Number(/^\d{4}(?!\d)/.exec(version)?.[0] ?? Number.NaN))
  const number = Math.max(...numbers)
  if (!tables.hasTable('users') || !tables.hasTable('roms') || versions.length === 0) {
    throw new SourceError(`${tables.title} holds no RomM: the tables users, roms and alembic_version must exist and be readable. ` +
      'Check the name of the database, and for PostgreSQL that the tables are in the schema of the user')
  }
  if (Number.isNaN(number)) {
    throw new SourceError(`RomM's database has the unknown revision "${versions.join(', ').slice(0, 100)}". ` +
      'Update RomM to a release from 4.0 on, start it once, and import again')
  }
  if (number < OLDEST) {
    throw new SourceError(`RomM's database has the revision ${format(number)}, which is older than RomM 4.0 (${format(OLDEST)}). ` +
      'Update RomM to a release from 4.0 on, start it once, and import again')
  }
  const release = RELEASES.find(([last]) => number <= last)?.[1] ?? 'newer than 5.2'
  return { release, revision: format(number), isNewer: number > NEWEST }
}

const format = (revision: number) => String(revision).padStart(4, '0')
