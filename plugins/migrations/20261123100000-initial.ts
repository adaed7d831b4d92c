import { Migration } from '@mikro-orm/migrations'
import { accounts } from './initial/accounts.ts'
import { counts } from './initial/counts.ts'
import { former } from './initial/former.ts'
import { games } from './initial/games.ts'
import { library } from './initial/library.ts'
import { permissions } from './initial/permissions.ts'
import { play } from './initial/play.ts'
import { server } from './initial/server.ts'
import { userContent } from './initial/user-content.ts'
import { versions } from './initial/versions.ts'

/** All tables of the first release: a table precedes those that refer to it, and tables precede triggers. */
export class Migration20261123100000 extends Migration {
  override up (): void {
    const tables = [...accounts, ...library, ...userContent, ...play, ...server]
    const triggers = [...versions, ...counts, ...games, ...former, ...permissions]
    for (const sql of [...tables, ...triggers]) this.addSql(sql)
  }
}
