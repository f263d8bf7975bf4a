/** Letters whose upper case is several letters in `upperUTF8` but one or none by itself. */
const SPLIT_IN_UPPER_CASE =
  "ßŉǰΐΰևẖẗẘẙẚὐὒὔὖᾲᾴᾶᾷῂῄῆῇῒ\u1fd3ῖῗῢ\u1fe3ῤῦῧῲῴῶῷﬀﬁﬂﬃﬄﬅﬆﬓﬔﬕﬖﬗ" +
  "ᾈᾉᾊᾋᾌᾍᾎᾏᾘᾙᾚᾛᾜᾝᾞᾟᾨᾩᾪᾫᾬᾭᾮᾯᾼῌῼᾀᾁᾂᾃᾄᾅᾆᾇᾐᾑᾒᾓᾔᾕᾖᾗᾠᾡᾢᾣᾤᾥᾦᾧᾳῃῳ";
const ALONE_IN_UPPER_CASE =
  "ßŉǰΐΰևẖẗẘẙẚὐὒὔὖᾲᾴᾶᾷῂῄῆῇῒ\u1fd3ῖῗῢ\u1fe3ῤῦῧῲῴῶῷﬀﬁﬂﬃﬄﬅﬆﬓﬔﬕﬖﬗ" +
  "ᾈᾉᾊᾋᾌᾍᾎᾏᾘᾙᾚᾛᾜᾝᾞᾟᾨᾩᾪᾫᾬᾭᾮᾯᾼῌῼᾈᾉᾊᾋᾌᾍᾎᾏᾘᾙᾚᾛᾜᾝᾞᾟᾨᾩᾪᾫᾬᾭᾮᾯᾼῌῼ";

/** Characters for private use that stand for those letters meanwhile. */
const FIRST_PLACEHOLDER = 0x10ff00;
const PLACEHOLDERS = Array.from(SPLIT_IN_UPPER_CASE, (_, i) =>
  String.fromCodePoint(FIRST_PLACEHOLDER + i),
).join("");

/** The SQL of a text in upper case, letter by letter. `text` must be shared. */
export function upperCase(text: string): string {
  const upper = `upperUTF8(translateUTF8(${text}, '${SPLIT_IN_UPPER_CASE}', '${PLACEHOLDERS}'))`;
  return `if(isASCII(${text}), upper(${text}), translateUTF8(${upper}, '${PLACEHOLDERS}', '${ALONE_IN_UPPER_CASE}'))`;
}

/** The SQL of a text in lower case, letter by letter: no letter depends on its neighbours. `text` must be shared. */
export function lowerCase(text: string): string {
  const guarded = `translateUTF8(${text}, 'Σ\u0130', 'σ\ufdd1')`;
  return `if(isASCII(${text}), lower(${text}), translateUTF8(lowerUTF8(${guarded}), '\ufdd1', '\u0130'))`;
}
