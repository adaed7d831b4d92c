import { defineSection } from '../../core/config/section.ts'
import { Names, Section } from '../../core/config/setting.ts'

export const excludeConfig = defineSection('exclude', Section({
  platforms: Names('Excluded platform folders, as names or patterns (*, ?, [...])'),
  roms: Section({
    single_file: Section({
      extensions: Names('Extensions of files that are not ROMs'),
      names: Names('Names or patterns of files that are not ROMs')
    }),
    multi_file: Section({
      names: Names('Names or patterns of folders that are not ROMs'),
      parts: Section({
        extensions: Names('Excluded extensions inside ROM folders'),
        names: Names('Excluded files inside ROM folders, as names or patterns')
      })
    })
  })
}, 'Names that the scan skips'), { isLive: true })
