import type { Migrations } from '../core/database/database.ts'
import { Migration20261121000000 } from './migrations/20261121000000-initial.ts'
import { Migration20261121100000 } from './migrations/20261121100000-platform-folder.ts'
import { Migration20261121200000 } from './migrations/20261121200000-access.ts'
import { Migration20261121300000 } from './migrations/20261121300000-notifications.ts'
import { Migration20261121310000 } from './migrations/20261121310000-installs.ts'
import { Migration20261121320000 } from './migrations/20261121320000-assets.ts'
import { Migration20261121330000 } from './migrations/20261121330000-sync.ts'
import { Migration20261121340000 } from './migrations/20261121340000-play.ts'
import { Migration20261122000300 } from './migrations/20261122000300-identity.ts'
import { Migration20261122000301 } from './migrations/20261122000301-deleted-accounts.ts'
import { Migration20261122000400 } from './migrations/20261122000400-app-dialects.ts'
import { Migration20261122000500 } from './migrations/20261122000500-former-roms.ts'
import { Migration20261122000600 } from './migrations/20261122000600-default-group.ts'
import { Migration20261122000700 } from './migrations/20261122000700-crashed-files.ts'
import { Migration20261122010100 } from './migrations/20261122010100-email-confirmed.ts'
import { Migration20261122010200 } from './migrations/20261122010200-link-matches.ts'
import { Migration20261122010300 } from './migrations/20261122010300-plugin-snapshots.ts'
import { Migration20261122010400 } from './migrations/20261122010400-provider-accounts.ts'
import { Migration20261122100000 } from './migrations/20261122100000-plugin-state.ts'
import { Migration20261122100100 } from './migrations/20261122100100-badges.ts'
import { Migration20261122110000 } from './migrations/20261122110000-foreign-key-indexes.ts'

/** Every migration in the order they run. A released one is never changed. */
export const migrations: Migrations = [
  { name: '20261121000000-initial', class: Migration20261121000000 },
  { name: '20261121100000-platform-folder', class: Migration20261121100000 },
  { name: '20261121200000-access', class: Migration20261121200000 },
  { name: '20261121300000-notifications', class: Migration20261121300000 },
  { name: '20261121310000-installs', class: Migration20261121310000 },
  { name: '20261121320000-assets', class: Migration20261121320000 },
  { name: '20261121330000-sync', class: Migration20261121330000 },
  { name: '20261121340000-play', class: Migration20261121340000 },
  { name: '20261122000300-identity', class: Migration20261122000300 },
  { name: '20261122000301-deleted-accounts', class: Migration20261122000301 },
  { name: '20261122000400-app-dialects', class: Migration20261122000400 },
  { name: '20261122000500-former-roms', class: Migration20261122000500 },
  { name: '20261122000600-default-group', class: Migration20261122000600 },
  { name: '20261122000700-crashed-files', class: Migration20261122000700 },
  { name: '20261122010100-email-confirmed', class: Migration20261122010100 },
  { name: '20261122010200-link-matches', class: Migration20261122010200 },
  { name: '20261122010300-plugin-snapshots', class: Migration20261122010300 },
  { name: '20261122010400-provider-accounts', class: Migration20261122010400 },
  { name: '20261122100000-plugin-state', class: Migration20261122100000 },
  { name: '20261122100100-badges', class: Migration20261122100100 },
  { name: '20261122110000-foreign-key-indexes', class: Migration20261122110000 }
]
