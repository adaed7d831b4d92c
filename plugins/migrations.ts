import type { Migrations } from '../core/database/database.ts'
import { Migration20261123100000 } from './migrations/20261123100000-initial.ts'
import { Migration20261123110000 } from './migrations/20261123110000-imports.ts'
import { Migration20261123120000 } from './migrations/20261123120000-webdav.ts'
import { Migration20261123180000 } from './migrations/20261123180000-dats.ts'
import { Migration20261123200000 } from './migrations/20261123200000-file-names.ts'
import { Migration20261123210000 } from './migrations/20261123210000-changes.ts'
import { Migration20261123220000 } from './migrations/20261123220000-values.ts'
import { Migration20261123230000 } from './migrations/20261123230000-plugin-settings.ts'
import { Migration20261123233000 } from './migrations/20261123233000-scan-parts.ts'
import { Migration20261123234000 } from './migrations/20261123234000-rate-shares.ts'
import { Migration20261123234500 } from './migrations/20261123234500-hosts.ts'
import { Migration20261123235000 } from './migrations/20261123235000-content-devices.ts'
import { Migration20261123235500 } from './migrations/20261123235500-install-percent.ts'
import { Migration20261124010000 } from './migrations/20261124010000-searched-names.ts'
import { Migration20261128160000 } from './migrations/20261128160000-plugin-packages.ts'
import { Migration20261128210000 } from './migrations/20261128210000-shared-settings.ts'
import { Migration20261129080000 } from './migrations/20261129080000-orders.ts'
import { Migration20261129110000 } from './migrations/20261129110000-one-folded-name.ts'
import { Migration20261129120000 } from './migrations/20261129120000-rom-names.ts'
import { Migration20261129170000 } from './migrations/20261129170000-rom-values.ts'
import { Migration20261129210000 } from './migrations/20261129210000-many-lost-games.ts'

/** Every migration in the order they run. A released one is never changed. */
export const migrations: Migrations = [
  { name: '20261123100000-initial', class: Migration20261123100000 },
  { name: '20261123110000-imports', class: Migration20261123110000 },
  { name: '20261123120000-webdav', class: Migration20261123120000 },
  { name: '20261123180000-dats', class: Migration20261123180000 },
  { name: '20261123200000-file-names', class: Migration20261123200000 },
  { name: '20261123210000-changes', class: Migration20261123210000 },
  { name: '20261123220000-values', class: Migration20261123220000 },
  { name: '20261123230000-plugin-settings', class: Migration20261123230000 },
  { name: '20261123233000-scan-parts', class: Migration20261123233000 },
  { name: '20261123234000-rate-shares', class: Migration20261123234000 },
  { name: '20261123234500-hosts', class: Migration20261123234500 },
  { name: '20261123235000-content-devices', class: Migration20261123235000 },
  { name: '20261123235500-install-percent', class: Migration20261123235500 },
  { name: '20261124010000-searched-names', class: Migration20261124010000 },
  { name: '20261128160000-plugin-packages', class: Migration20261128160000 },
  { name: '20261128210000-shared-settings', class: Migration20261128210000 },
  { name: '20261129080000-orders', class: Migration20261129080000 },
  { name: '20261129110000-one-folded-name', class: Migration20261129110000 },
  { name: '20261129120000-rom-names', class: Migration20261129120000 },
  { name: '20261129170000-rom-values', class: Migration20261129170000 },
  { name: '20261129210000-many-lost-games', class: Migration20261129210000 }
]
