import t from 'tap'
import { languageName, regionCode, regionName } from '../src/index.ts'

t.test('regions are found by code, name and other words, in any case', async (t) => {
  for (const word of ['us', 'USA', ' usa ', 'United States', 'North America']) {
    t.same([regionName(word), regionCode(word)], ['USA', 'us'], word)
  }
  for (const word of ['wr', 'wor', 'World']) t.same([regionName(word), regionCode(word)], ['World', 'wor'], word)
  t.same([regionName('nl'), regionName('Holland'), regionCode('Holland')], ['Netherlands', 'Holland', 'nl'])
  t.same([regionName('uk'), regionName('es'), regionCode('es')], ['England', 'Spain', 'sp'])
  for (const word of ['', 'Moonland', 'constructor', 'Unlicensed']) t.same([regionName(word), regionCode(word)], [undefined, undefined], word)
})

t.test('languages are found by their codes and some country codes', async (t) => {
  t.same(['en', 'JA', ' fr ', 'zh', 'jp', 'br'].map(languageName), ['English', 'Japanese', 'French', 'Chinese', 'Japanese', 'Portuguese'])
  t.same(['', 'English', 'xx', '12', 'en-US'].map(languageName), [undefined, undefined, undefined, undefined, undefined])
})
