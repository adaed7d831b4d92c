import type { MigrationObject } from '@mikro-orm/core'
import { StartError } from '../errors.ts'

type Named = Pick<MigrationObject, 'name'>

/** The name of a migration begins with its time. */
const timeOf = (name: string) => name.slice(0, 14)

/**
 * Matches the name of a migration that removes what former releases use. The second time is that of the first migration
 * whose release no longer uses it: plugins/migrations/README.md.
 */
const CONTRACT = /^\d{14}-contract-(\d{14})-/

/** Returns the time of the first migration whose releases work after a contracting migration; null for any other. */
export const readContract = (name: string): string | null => CONTRACT.exec(name)?.[1] ?? null

/** Returns the first executed migration that this release does not know. */
export function findNewer (executed: readonly string[], migrations: readonly Named[]): string | undefined {
  const knownNames = new Set(migrations.map(({ name }) => name))
  return executed.find((name) => !knownNames.has(name))
}

/**
 * Returns the first executed migration with which this release cannot work: it removed something that this release
 * uses, or a preview of the first release executed it. Any other later migration only added to the schema.
 */
export function findUnusable (executed: readonly string[], migrations: readonly Named[]): string | undefined {
  const knownNames = new Set(migrations.map(({ name }) => name))
  const newest = timeOf(migrations.at(-1)?.name ?? '')
  return executed.find((name) => {
    if (knownNames.has(name)) return false
    const since = readContract(name)
    return timeOf(name) <= newest || (since !== null && since > newest)
  })
}

const refuse = (migration: string) => new StartError('The database was made by a newer release, or a preview of the first ' +
  `(migration ${migration}). Start that release, or restore a backup from before the upgrade with svc restore.`)

/** @throws StartError if the database has migrations that this release does not know */
export function requireKnownSchema (executed: readonly string[], migrations: readonly Named[]): void {
  const newer = findNewer(executed, migrations)
  if (newer !== undefined) throw refuse(newer)
}

/** @throws StartError if the database has a migration with which this release cannot work */
export function requireUsableSchema (executed: readonly string[], migrations: readonly Named[]): void {
  const unusable = findUnusable(executed, migrations)
  if (unusable !== undefined) throw refuse(unusable)
}
