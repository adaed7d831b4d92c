import { format, texts } from '../../i18n/language.ts'
import { readNumber } from '../../read-fields.ts'
import { Section } from './section.tsx'
import type { DetailedRom } from './rom-data.ts'

/** How long people take to finish a game. */
export function TimeToBeat ({ rom: { hltb_metadata: record } }: { rom: DetailedRom }) {
  const { beat: words } = texts().rom
  const times: [string, number][] = [
    [words.story, readNumber(record.main_story) ?? 0], [words.extra, readNumber(record.main_plus_extra) ?? 0],
    [words.complete, readNumber(record.completionist) ?? 0]
  ]
  const known = times.filter(([, seconds]) => seconds > 0)
  if (known.length === 0) return null
  return (
    <Section title={words.title}>
      <dl class='rom-times'>{known.map(([name, seconds]) => <div key={name}><dt>{name}</dt><dd class='number'>{format().duration(seconds)}</dd></div>)}</dl>
    </Section>
  )
}
