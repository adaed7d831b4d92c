import { Migration20261121000000 } from './20261121000000-initial.ts'
import { Migration20261121100000 } from './20261121100000-platform-folder.ts'
import { Migration20261121200000 } from './20261121200000-access.ts'

/** Every migration in the order they run. A released one is never changed. */
export const MIGRATIONS = [
  { name: '20261121000000-initial', class: Migration20261121000000 },
  { name: '20261121100000-platform-folder', class: Migration20261121100000 },
  { name: '20261121200000-access', class: Migration20261121200000 }
]
