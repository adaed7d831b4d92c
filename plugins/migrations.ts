import type { Migrations } from '../core/database/database.ts'
import { Migration20261123100000 } from './migrations/20261123100000-initial.ts'

/** Every migration in the order they run. A released one is never changed. */
export const migrations: Migrations = [
  { name: '20261123100000-initial', class: Migration20261123100000 }
]
