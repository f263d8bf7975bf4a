/** Names of the tz database that newer ones took the place of; they mean the same zones. One to a word. */
const OLDER_NAMES = `Africa/Asmera Africa/Timbuktu America/Argentina/ComodRivadavia America/Atka America/Buenos_Aires
  America/Catamarca America/Coral_Harbour America/Cordoba America/Ensenada America/Fort_Wayne
  America/Godthab America/Indianapolis America/Jujuy America/Knox_IN America/Louisville
  America/Mendoza America/Montreal America/Nipigon America/Pangnirtung America/Porto_Acre
  America/Rainy_River America/Rosario America/Santa_Isabel America/Shiprock America/Thunder_Bay
  America/Virgin America/Yellowknife Antarctica/South_Pole Asia/Ashkhabad Asia/Calcutta
  Asia/Choibalsan Asia/Chongqing Asia/Chungking Asia/Dacca Asia/Harbin Asia/Istanbul Asia/Kashgar
  Asia/Katmandu Asia/Macao Asia/Rangoon Asia/Saigon Asia/Tel_Aviv Asia/Thimbu Asia/Ujung_Pandang
  Asia/Ulan_Bator Atlantic/Faeroe Atlantic/Jan_Mayen Australia/ACT Australia/Canberra Australia/Currie
  Australia/LHI Australia/NSW Australia/North Australia/Queensland Australia/South Australia/Tasmania
  Australia/Victoria Australia/West Australia/Yancowinna Brazil/Acre Brazil/DeNoronha Brazil/East
  Brazil/West CET CST6CDT Canada/Atlantic Canada/Central Canada/Eastern Canada/Mountain
  Canada/Newfoundland Canada/Pacific Canada/Saskatchewan Canada/Yukon Chile/Continental
  Chile/EasterIsland Cuba EET EST EST5EDT Egypt Eire Etc/GMT Etc/GMT+0 Etc/GMT-0 Etc/GMT0
  Etc/Greenwich Etc/UCT Etc/UTC Etc/Universal Etc/Zulu Europe/Belfast Europe/Kiev Europe/Nicosia
  Europe/Tiraspol Europe/Uzhgorod Europe/Zaporozhye GB GB-Eire GMT GMT+0 GMT-0 GMT0 Greenwich HST
  Hongkong Iceland Iran Israel Jamaica Japan Kwajalein Libya MET MST MST7MDT Mexico/BajaNorte
  Mexico/BajaSur Mexico/General NZ NZ-CHAT Navajo PRC PST8PDT Pacific/Enderbury Pacific/Johnston
  Pacific/Ponape Pacific/Samoa Pacific/Truk Pacific/Yap Poland Portugal ROC ROK Singapore Turkey UCT
  US/Alaska US/Aleutian US/Arizona US/Central US/East-Indiana US/Eastern US/Hawaii US/Indiana-Starke
  US/Michigan US/Mountain US/Pacific US/Samoa Universal W-SU WET Zulu`;

/** Every name of a time zone, in the order of the alphabet. */
export function zoneNames(): string[] {
  return [...new Set([...Intl.supportedValuesOf("timeZone"), ...OLDER_NAMES.split(/\s+/)])].sort();
}
