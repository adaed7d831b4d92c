import { Migration } from '@mikro-orm/migrations'

/** Which folder held a platform's ROMs, so that a mount point without its disk is not taken for it. */
export class Migration20261121100000 extends Migration {
  override up (): void {
    this.addSql('alter table "platforms" add column "fs_inode" text null')
  }
}
