import { texts } from '../../i18n/language.ts'
import { Badge } from '../../ui/state.tsx'
import { Section } from './section.tsx'
import type { DetailedRom } from './rom-data.ts'

/** Other releases of the same game in the library. */
export function Versions ({ rom: { sibling_roms: siblings } }: { rom: DetailedRom }) {
  const { versions: words } = texts().rom
  if (siblings.length === 0) return null
  return (
    <Section title={words.title}>
      <ul class='rom-rows'>
        {siblings.map(({ id, name, fs_name_no_ext: file, is_main_sibling: isMain }) => (
          <li key={id} class='rom-row'>
            <a class='rom-row-text' href={`roms/${id}`}><strong>{name || file}</strong><span class='faint'>{file}</span></a>
            {isMain && <Badge kind='accent'>{words.main}</Badge>}
          </li>
        ))}
      </ul>
    </Section>
  )
}
