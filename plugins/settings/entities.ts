import { type InferEntity, defineEntity } from '@mikro-orm/core'
import { columns } from '../../core/database/columns.ts'

/** A section of `config.yml` that all hosts of this database share. */
export const SharedSetting = defineEntity({
  name: 'SharedSetting',
  tableName: 'shared_settings',
  properties: {
    section: columns.text().primary(),
    /** The name and the value of the section, encrypted together by the key of the server. */
    sealed: columns.text(),
    /** The name of the host whose file it came from. */
    changed_by: columns.text(),
    changed_at: columns.createdAt()
  }
})
export type SharedSetting = InferEntity<typeof SharedSetting>
