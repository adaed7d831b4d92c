import { format, texts } from '../../i18n/language.ts'
import type { DetailedRom } from './rom-data.ts'

/** What is known about a game, without its texts. Facts without a value do not appear. */
export function Facts ({ rom }: { rom: DetailedRom }) {
  const { rom: { facts: words } } = texts()
  const { list, date, day } = format()
  const { metadatum } = rom
  const facts: [string, string][] = [
    [words.released, metadatum.first_release_date === null ? '' : day(metadatum.first_release_date)],
    [words.genres, list(metadatum.genres)],
    [words.companies, list(metadatum.companies)],
    [words.franchises, list(metadatum.franchises)],
    [words.collections, list(metadatum.collections)],
    [words.modes, list(metadatum.game_modes)],
    // Every ROM has a number of players, which says something only about a known game.
    [words.players, rom.is_identified ? metadatum.player_count : ''],
    [words.ages, list(metadatum.age_ratings)],
    [words.regions, list(rom.regions)],
    [words.languages, list(rom.languages)],
    [words.revision, rom.revision ?? ''],
    [words.alternative, list(rom.alternative_names.slice(0, 6))],
    [words.added, date(rom.created_at)]
  ]
  return (
    <section class='rom-card'>
      <h2>{words.title}</h2>
      <dl class='rom-facts'>
        {facts.filter(([, value]) => value !== '').map(([name, value]) => <div key={name}><dt>{name}</dt><dd>{value}</dd></div>)}
      </dl>
    </section>
  )
}
