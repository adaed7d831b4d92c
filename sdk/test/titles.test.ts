import fc from 'fast-check'
import t from 'tap'
import { type LookupStep, listHashKinds } from '../src/lookup-step.ts'
import {
  compareTitles, findBestCandidate, findBestTitle, isContinuation, lastPart, normalizeTitle, rankCandidates,
  splitTitles, toQuery, toSearchTerm
} from '../src/titles/index.ts'

const UNITS = ['', 'i', 'ii', 'iii', 'iv', 'v', 'vi', 'vii', 'viii', 'ix']

t.test('a search term is the file name without its extension and the tags at its end', async (t) => {
  const terms: [string, string][] = [
    ['Chrono Harbor (USA) [!].sfc', 'Chrono Harbor'],
    ['Chrono Harbor (USA).tar.gz', 'Chrono Harbor'],
    ['Chrono Harbor (Demo) II (Europe) (Rev 1).7z', 'Chrono Harbor (Demo) II'],
    ['Harbor, The (USA) (En,Fr).zip', 'Harbor, The'],
    ['Harbor (Disc 1 (of 2)).chd', 'Harbor'],
    ['Dr. Harbor', 'Dr. Harbor'],
    ['Harbor [b1](Beta)', 'Harbor'],
    ['Harbor (unclosed.zip', 'Harbor (unclosed'],
    ['Harbor closed).zip', 'Harbor closed)'],
    ['(Demo).zip', '(Demo)'],
    ['.hidden', '.hidden'],
    ['', '']
  ]
  for (const [name, term] of terms) t.equal(toSearchTerm(name), term, name)
})

t.test('titles are normalized to words in lower case', async (t) => {
  const titles: [string, string][] = [
    ['The Harbor', 'harbor'],
    ['An  Harbor_Saga', 'harbor saga'],
    ['Theatre of A War', 'theatre of a war'],
    ['Harbor, The', 'harbor'],
    ['Harbor, The: Part Two', 'harbor part two'],
    ['Harbor, Therefore', 'harbor therefore'],
    ['Pokémon: Ruby & Sapphire!', 'pokemon ruby sapphire'],
    ['Cafe\u0301 Harbor', 'cafe harbor'],
    ['港の物語', '港の物語'],
    ['ハ\u3099ーハ\u309Aー!', 'バーパー'],
    ['가게', '가게'],
    ['हिन्दी', 'हिन्दी'],
    ['Ελλάδα Ёлка', 'ελλαδα елка'],
    ['¡!', '']
  ]
  for (const [title, normalized] of titles) t.equal(normalizeTitle(title), normalized, title)
  t.equal(normalizeTitle('The Harbor, A', { keepArticles: true }), 'the harbor a')
  t.equal(normalizeTitle('The  Harbor: Part-Two', { keepPunctuation: true }), 'harbor: part-two')
  t.equal(normalizeTitle('The Harbor  (Two)', { keepPunctuation: true, keepArticles: true }), 'the harbor  (two)')
})

t.test('compareTitles returns the published scores', async (t) => {
  const vectors: [string, string, number][] = [
    ['metal gear solid portable ops', 'metal gear solid portable ops plus', 0.9928],
    ['007 quantum of solace', 'quantum of solace', 0.8385],
    ['ecco the tides of time', 'ecco the dolphin', 0.8448],
    ['final fantasy vi', 'final fantasy vii', 0.9988],
    ['mega man x', 'mega man x2', 0.9972],
    ['tetris', 'dr mario', 0.5278]
  ]
  for (const [a, b, score] of vectors) t.equal(Number(compareTitles(a, b).toFixed(4)), score, `${a} / ${b}`)
})

t.test('a mark that makes another letter is preserved', async (t) => {
  t.ok(compareTitles('ハーバー', 'バーハー') < 1)
  t.equal(findBestTitle('ハーバー', ['パーパー', 'バーハー', 'ハーハー'], { threshold: 0.88 }), undefined)
  t.equal(findBestTitle('ポケモン', ['ボケモン', 'ポケモン'], { threshold: 0.75 })?.index, 1)
  const kana = fc.constantFrom(...'かがきぎくぐはばぱひびぴハバパヒビピ')
  fc.assert(fc.property(fc.array(kana, { minLength: 1 }), fc.array(kana, { minLength: 1 }), (a, b) => {
    const [left, right] = [a.join(''), b.join('')]
    return (compareTitles(left, right) === 1) === (left === right) && compareTitles(left.normalize('NFD'), left) === 1
  }))
})

t.test('titles are compared after normalization', async (t) => {
  t.equal(compareTitles('The Harbor: Part_Two', 'harbor part two'), 1)
  t.equal(compareTitles('!!!', '???'), 0)
  t.equal(compareTitles('!!!', '!!!'), 1)
  t.equal(compareTitles('abc', 'xyz'), 0)
  t.equal(compareTitles('', 'harbor'), 0)
})

t.test('a similarity is between 0 and 1, and 1 for a title and itself', async () => {
  fc.assert(fc.property(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'grapheme' }), (a, b) => {
    const score = compareTitles(a, b)
    return score >= 0 && score <= 1 && compareTitles(a, a) === 1
  }))
})

t.test('a search term is a part of the file name and empty only for a blank one', async () => {
  fc.assert(fc.property(fc.string(), (name) => {
    const term = toSearchTerm(name)
    return name.includes(term) && (term !== '' || name.trim() === '')
  }))
})

t.test('tags at the end never change the search term', async () => {
  const tag = fc.constantFrom(' (USA)', ' [!]', '(Disc 1 (of 2))', ' [b1]')
  fc.assert(fc.property(fc.array(tag), fc.constantFrom('sfc', 'zip', 'tar.gz'), (tags, extension) =>
    toSearchTerm(`Chrono Harbor${tags.join('')}.${extension}`) === 'Chrono Harbor'))
})

t.test('a hostile title is compared quickly', async (t) => {
  const start = performance.now()
  compareTitles('a'.repeat(1_000_000), `${'a'.repeat(999_999)}b`)
  compareTitles(', '.repeat(200_000), ',  '.repeat(200_000))
  toSearchTerm(`${'a.'.repeat(2000)}!`)
  toSearchTerm('('.repeat(4000) + ')'.repeat(4000))
  t.ok(performance.now() - start < 60_000)
})

t.test('the best title above the threshold wins, the first one on a tie', async (t) => {
  t.same(findBestTitle('Chrono Harbor', ['Other', 'Chrono Harbour', 'chrono harbor', 'Chrono Harbor'], { threshold: 0.75 }),
    { title: 'chrono harbor', index: 2, score: 1 })
  t.equal(findBestTitle('Chrono Harbor', ['Tetris', 'Dr. Mario'], { threshold: 0.75 }), undefined)
  t.equal(findBestTitle('Chrono Harbor', [], { threshold: 0 }), undefined)
  t.match(findBestTitle('abcd', ['abcx', 'abcy'], { threshold: 0 }), { index: 0 })
})

t.test('explain receives the best candidates of a search', async (t) => {
  const steps: LookupStep[] = []
  const options = { threshold: 0.95, explain: (step: LookupStep) => { steps.push(step) } }
  t.equal(findBestTitle('Chrono Harbor', ['Tetris', 'Chrono Harbor 2', 'Chrono Farm'], options), undefined)
  t.match(steps, [{
    by: 'search',
    term: 'Chrono Harbor',
    threshold: 0.95,
    count: 3,
    candidates: [{ name: 'Chrono Farm', score: Number }, { name: 'Tetris', score: Number }, { name: 'Chrono Harbor 2', score: null }]
  }])
  const games = Array.from({ length: 50 }, (_none, index) => [`Game ${'x'.repeat(index)}`, 'Another title'])
  findBestCandidate('Gamex', games, (game) => game, options)
  const [, last] = steps
  t.match(last, { by: 'search', count: 50 }, 'candidates are counted, not titles')
  t.equal(last?.by === 'search' ? last.candidates.length : 0, 10)
  t.same(listHashKinds({ crc_hash: '', md5_hash: 'a', sha1_hash: undefined, ra_hash: 'b' }), ['md5', 'ra'])
})

t.test('split compares the last part of a candidate', async (t) => {
  const titles = ['Harbor Saga: Tides of Time', 'Harbor Saga - ']
  t.equal(findBestTitle('Tides of Time', titles, { threshold: 0.98 }), undefined)
  t.match(findBestTitle('Tides of Time', titles, { threshold: 0.98, split: true }), { index: 0, score: 1 })
  t.match(findBestTitle('Harbor Saga', titles, { threshold: 0.98, split: true }), { index: 1, score: 1 })
})

t.test('a matching own name wins over a matching alternative name', async (t) => {
  const games = [['Tide Keepers', 'Harbor'], ['Harbor'], ['Harbor']]
  const titlesOf = (titles: string[]) => titles
  const best = findBestCandidate('Harbor', games, titlesOf, { threshold: 0.75 })
  t.equal(best?.candidate, games[1], 'and of two the first')
  t.equal(best?.score, 1)
  t.equal(findBestCandidate('Tide Keeper', games, titlesOf, { threshold: 0.75 })?.candidate, games[0])
  t.equal(findBestCandidate('Tide Keepers 2', [['Tide Keepers 3']], titlesOf, { threshold: 0.75 }), undefined)
})

t.test('candidates are ranked by their best title', async (t) => {
  const ranked = rankCandidates('Harbor', [['Dock'], ['Tide', 'Harbor'], ['Harbor'], []], (titles) => titles)
  t.same(ranked.map(({ candidate }) => candidate), [['Tide', 'Harbor'], ['Harbor'], ['Dock'], []])
  t.match(ranked, [{ score: 1 }, { score: 1 }, {}, { score: 0 }])
})

t.test('another part of a series is skipped, whichever title has a number', async (t) => {
  const isSame: [string, string, boolean][] = [
    ['Final Fantasy VI', 'Final Fantasy VII', false],
    ['Final Fantasy VI', 'Final Fantasy 6', true],
    ['Final Fantasy VII', 'Final Fantasy', false],
    ['Final Fantasy', 'Final Fantasy VII', false],
    ['Final Fantasy', 'Final Fantasy I', true],
    ['Mega Man X', 'Mega Man', false],
    ['Mega Man X', 'Mega Man X2', false],
    ['Mega Man X2', 'Mega Man X 2', true],
    ['1942', '1943', false],
    ['1942', '1942: Joint Strike', true],
    ['1942: Joint Strike', '1943: Joint Strike', false],
    ['Street Fighter II Turbo', 'Street Fighter III Turbo', false],
    ['Street Fighter II Turbo', 'Street Fighter 2 Turbo', true],
    ['Street Fighter II Turbo', 'Street Fighter', false],
    ['Harbor 3', 'Harbor', false],
    ['Harbor', 'Harbor 3: Third Tide', false],
    ['Harbor', 'Harbor: 2nd Tide', false],
    ['Harbor 3', 'Harbor III: Third Tide', true],
    ['Harbor 3', 'Harbor: Third Tide', false],
    ['harbor 3 third tide', 'Harbor 3: Third Tide', true],
    ['Harbor: Second Tide', 'Harbor II: Second Tide', true],
    ['Harbor 2: Second Tide', 'Harbor 3: Second Tide', false],
    ['Harbor 2, Part 1', 'Harbor 3, Part 1', false],
    ['Harbor 2, Part 1', 'Harbor 2', false],
    ['Harbor 02', 'Harbor II', true],
    ['Harbor 0', 'Harbor 00', true],
    ['Harbor XXIX', 'Harbor 29', true],
    ['007: Quantum of Harbor', 'Quantum of Harbor', true],
    ['Harbor Mix', 'Harbor Mid', true]
  ]
  for (const [term, title, same] of isSame) {
    t.equal(findBestTitle(term, [title], { threshold: 0.7 }) !== undefined, same, `${term} / ${title}`)
  }
  t.match(findBestTitle('Mega Man X2', ['Mega Man X3', 'Mega Man X', 'Mega Man X2'], { threshold: 0.7 }), { index: 2 })
})

t.test('parts of any series are distinguished, however they are numbered', async () => {
  const series = fc.stringMatching(/^[a-z]{4,9}( [a-z]{4,9}){0,2}$/)
  const part = fc.integer({ min: 2, max: 39 })
  const writtenAs = (number: number): string[] =>
    [String(number), `0${number}`, 'x'.repeat(Math.floor(number / 10)) + UNITS[number % 10]]
  const find = (term: string, title: string) => findBestTitle(term, [title], { threshold: 0 })
  fc.assert(fc.property(series, part, part, fc.nat(2), fc.nat(2), (name, a, b, formA, formB) => {
    const [one, other] = [`${name} ${writtenAs(a)[formA]}`, `${name} ${writtenAs(b)[formB]}`]
    return (find(one, other) !== undefined) === (a === b) && (find(`${one}: Tide`, `${other}: Tide`) !== undefined) === (a === b) &&
      find(one, name) === undefined && find(name, one) === undefined && find(one, `${one}: Tide`) !== undefined
  }))
})

t.test('no title is another part of itself, and the comparison is symmetric', async () => {
  fc.assert(fc.property(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'grapheme' }), (a, b) => {
    const find = (term: string, title: string) => findBestTitle(term, [title], { threshold: 0 })
    return find(a, a)?.score === 1 && (find(a, b) === undefined) === (find(b, a) === undefined)
  }))
})

t.test('toQuery normalizes Latin titles and leaves other scripts untouched', async (t) => {
  const titles: [string, string][] = [
    ['Pokémon: The Ruby_Version', 'pokemon the ruby version'],
    ['The Harbor', 'harbor'],
    [' ポケットモンスター バイオレット ', 'ポケットモンスター バイオレット'],
    ['Ёлки: Зима', 'Ёлки: Зима'],
    ['¡!', ''],
    ['', '']
  ]
  for (const [title, query] of titles) t.equal(toQuery(title), query, title)
  t.equal(toQuery('The Harbor: Part-Two', { keepPunctuation: true, keepArticles: true }), 'the harbor: part-two')
  fc.assert(fc.property(fc.string({ unit: 'grapheme' }), (title) => {
    const query = toQuery(title, { keepPunctuation: true })
    return (query === '') === (normalizeTitle(title) === '') && normalizeTitle(query) === normalizeTitle(title)
  }))
})

t.test('lastPart returns the text after the last separator', async (t) => {
  t.equal(lastPart('Chrono Harbor: Second Tide'), 'Second Tide')
  t.equal(lastPart('Chrono / Harbor - Third Tide'), 'Third Tide')
  t.equal(lastPart('Chrono Harbor'), 'Chrono Harbor')
  t.equal(lastPart('Chrono Harbor -'), 'Chrono Harbor')
  t.equal(lastPart('- : /'), '- : /')
  t.equal(lastPart('Harbor Saga – Fourth Tide'), 'Fourth Tide')
  for (const whole of ['Spider-Man', 'Pac-Man/Galaga', '24:00 Rally', 'F-Zero X']) t.equal(lastPart(whole), whole)
  t.equal(lastPart('Spider-Man 2: Enter Elektro-Man'), 'Enter Elektro-Man')
})

t.test('the last part is part of the title and is not split again', async (t) => {
  const word = fc.stringMatching(/^[a-z0-9][a-z0-9'&!-]{0,8}[a-z0-9]$/)
  const part = fc.array(word, { minLength: 1, maxLength: 4 }).map((words) => words.join(' '))
  const separator = fc.constantFrom(': ', ' : ', ' - ', ' / ', ' – ')
  fc.assert(fc.property(fc.array(fc.tuple(part, separator), { maxLength: 3 }), part, (before, last) => {
    const title = before.map(([text, between]) => text + between).join('') + last
    t.equal(lastPart(title), last, { diagnostic: false })
  }))
  const made = fc.string({ unit: fc.constantFrom(...':-/ a!'), maxLength: 8 })
  fc.assert(fc.property(fc.oneof(fc.string(), made), (title) => {
    const last = lastPart(title)
    return title.includes(last) && (last === title || lastPart(last) === last)
  }))
})

t.test('a title with more words continues another, in either order', async (t) => {
  const pairs = [['Harbor Song', 'The Harbor: Song Plus'], ['Harbor 2', 'harbor'], ['ハーバー', 'ハーバー 特別版']] as const
  for (const [a, b] of pairs) t.same([isContinuation(a, b), isContinuation(b, a)], [true, true], b)
  const others = [['Harbor', 'Harbors'], ['Harbor', 'The Harbor!'], ['', 'Harbor'], ['!', '?']] as const
  for (const [a, b] of others) t.same([isContinuation(a, b), isContinuation(b, a)], [false, false], b)
})

t.test('titles in several languages are separated', async (t) => {
  t.same(splitTitles('Minato no Uta ~ Harbor Song'), ['Minato no Uta', 'Harbor Song', 'Minato no Uta ~ Harbor Song'])
  t.same(splitTitles('Harbor Song ~Tide~'), ['Harbor Song ~Tide~'])
  t.same([splitTitles(' ~ Harbor'), splitTitles('~'), splitTitles('')], [['Harbor', ' ~ Harbor'], ['~'], ['']])
})
