import { Migration } from '@mikro-orm/migrations'

/** The database itself ensures that a default group remains, even under concurrent changes. */
export class Migration20261122000600 extends Migration {
  override up (): void {
    this.addSql(`insert into "permission_groups" ("name", "description", "is_system")
      select 'Members', 'Read the library, write what is their own', true where not exists (select 1 from "permission_groups")`)
    this.addSql(`update "permission_groups" set "is_default" = true
      where "id" = (select "id" from "permission_groups" order by "is_system" desc, "id" limit 1)
        and not exists (select 1 from "permission_groups" where "is_default")`)
    this.addSql(`create function "keep_default_group"() returns trigger language plpgsql as $$ begin
      if not exists (select 1 from permission_groups where is_default) then
        raise exception 'one permission group must be the default one'
          using errcode = 'check_violation', constraint = 'permission_groups_default_kept';
      end if;
      return null;
    end $$`)
    // The check runs at the end of a transaction, because no group is the default between two changes of it.
    this.addSql(`create constraint trigger "permission_groups_default_kept"
      after delete or update of "is_default" on "permission_groups" deferrable initially deferred
      for each row when (old."is_default") execute function "keep_default_group"()`)
  }
}
