//! The columns: names and types as ClickBench has them for PostgreSQL, and what each is made of.

use std::fmt::Write;
use std::sync::Arc;

use Column::{Big, Date, Integer, Small, Text, Time};
use arrow::array::{
    ArrayRef, Date32Array, Int16Array, Int32Array, Int64Array, RecordBatch, StringViewArray,
    TimestampMicrosecondArray,
};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef, TimeUnit};

use super::NAME;
use super::row::Hit;

/// In the unit of timestamps.
const SECOND: i64 = 1_000_000;
const DAY_SECONDS: i64 = 86_400;

/// What a column holds of a hit, by its type.
#[derive(Clone, Copy)]
enum Column {
    Small(fn(&Hit) -> i16),
    Integer(fn(&Hit) -> i32),
    Big(fn(&Hit) -> i64),
    Date(fn(&Hit) -> i32),
    Time(fn(&Hit) -> i64),
    Text(fn(&Hit) -> &str),
}

/// Name, SQL type, content.
const COLUMNS: [(&str, &str, Column); 105] = [
    ("WatchID", "BIGINT", Big(|hit| hit.watch_id)),
    ("JavaEnable", "SMALLINT", Small(|hit| hit.visitor.java)),
    ("Title", "TEXT", Text(|hit| &hit.title)),
    ("GoodEvent", "SMALLINT", Small(|hit| hit.good.into())),
    ("EventTime", "TIMESTAMP", Time(|hit| hit.second * SECOND)),
    ("EventDate", "DATE", Date(day)),
    ("CounterID", "INTEGER", Integer(|hit| hit.counter)),
    ("ClientIP", "INTEGER", Integer(|hit| hit.visitor.ip)),
    ("RegionID", "INTEGER", Integer(|hit| hit.visitor.region)),
    ("UserID", "BIGINT", Big(|hit| hit.visitor.id)),
    ("CounterClass", "SMALLINT", Small(|hit| hit.counter_class)),
    ("OS", "SMALLINT", Small(|hit| hit.visitor.system)),
    ("UserAgent", "SMALLINT", Small(|hit| hit.visitor.agent)),
    ("URL", "TEXT", Text(|hit| &hit.url)),
    ("Referer", "TEXT", Text(|hit| &hit.came.referer)),
    ("IsRefresh", "SMALLINT", Small(|hit| hit.is_refresh.into())),
    ("RefererCategoryID", "SMALLINT", Small(|hit| noise(hit, 0, 12) * 100)),
    ("RefererRegionID", "INTEGER", Integer(|hit| i32::from(noise(hit, 1, 300)))),
    ("URLCategoryID", "SMALLINT", Small(|hit| hit.url_category)),
    ("URLRegionID", "INTEGER", Integer(|hit| hit.url_region)),
    ("ResolutionWidth", "SMALLINT", Small(|hit| hit.visitor.screen.0)),
    ("ResolutionHeight", "SMALLINT", Small(|hit| hit.visitor.screen.1)),
    ("ResolutionDepth", "SMALLINT", Small(|hit| hit.visitor.depth)),
    ("FlashMajor", "SMALLINT", Small(|hit| hit.visitor.flash.0)),
    ("FlashMinor", "SMALLINT", Small(|hit| hit.visitor.flash.1)),
    ("FlashMinor2", "TEXT", Text(|hit| hit.visitor.flash.2)),
    ("NetMajor", "SMALLINT", Small(|hit| hit.visitor.net.0)),
    ("NetMinor", "SMALLINT", Small(|hit| hit.visitor.net.1)),
    ("UserAgentMajor", "SMALLINT", Small(|hit| hit.visitor.agent_major)),
    ("UserAgentMinor", "VARCHAR(255)", Text(|hit| hit.visitor.agent_minor)),
    ("CookieEnable", "SMALLINT", Small(|hit| hit.visitor.cookie)),
    ("JavascriptEnable", "SMALLINT", Small(|hit| hit.visitor.javascript)),
    ("IsMobile", "SMALLINT", Small(|hit| hit.visitor.mobile)),
    ("MobilePhone", "SMALLINT", Small(|hit| hit.visitor.phone)),
    ("MobilePhoneModel", "TEXT", Text(|hit| hit.visitor.phone_model)),
    ("Params", "TEXT", Text(|hit| if noise(hit, 11, 40) == 0 { "{}" } else { "" })),
    ("IPNetworkID", "INTEGER", Integer(|hit| hit.visitor.network)),
    ("TraficSourceID", "SMALLINT", Small(|hit| hit.came.source)),
    ("SearchEngineID", "SMALLINT", Small(|hit| hit.came.engine)),
    ("SearchPhrase", "TEXT", Text(|hit| &hit.came.phrase)),
    ("AdvEngineID", "SMALLINT", Small(|hit| hit.came.advertisement)),
    ("IsArtifical", "SMALLINT", Small(|hit| hit.is_artificial.into())),
    ("WindowClientWidth", "SMALLINT", Small(|hit| hit.window.0)),
    ("WindowClientHeight", "SMALLINT", Small(|hit| hit.window.1)),
    ("ClientTimeZone", "SMALLINT", Small(|hit| hit.visitor.time_zone)),
    (
        "ClientEventTime",
        "TIMESTAMP",
        Time(|hit| (hit.second + i64::from(noise(hit, 2, 600))) * SECOND),
    ),
    ("SilverlightVersion1", "SMALLINT", Small(|hit| hit.visitor.silverlight.0)),
    ("SilverlightVersion2", "SMALLINT", Small(|hit| hit.visitor.silverlight.1)),
    ("SilverlightVersion3", "INTEGER", Integer(|hit| hit.visitor.silverlight.2)),
    ("SilverlightVersion4", "SMALLINT", Small(|_| 0)),
    ("PageCharset", "TEXT", Text(|hit| if noise(hit, 3, 4) == 0 { "utf-8" } else { "windows" })),
    ("CodeVersion", "INTEGER", Integer(|hit| i32::from(noise(hit, 4, 3)) * 291 + 1000)),
    ("IsLink", "SMALLINT", Small(|hit| hit.is_link.into())),
    ("IsDownload", "SMALLINT", Small(|hit| hit.is_download.into())),
    ("IsNotBounce", "SMALLINT", Small(|hit| hit.is_not_bounce.into())),
    ("FUniqID", "BIGINT", Big(|hit| hit.visitor.unique_id)),
    ("OriginalURL", "TEXT", Text(|_| "")),
    ("HID", "INTEGER", Integer(|hit| (hit.noise >> 34) as i32)),
    ("IsOldCounter", "SMALLINT", Small(|_| 0)),
    ("IsEvent", "SMALLINT", Small(|_| 0)),
    ("IsParameter", "SMALLINT", Small(|_| 0)),
    ("DontCountHits", "SMALLINT", Small(|hit| hit.dont_count.into())),
    ("WithHash", "SMALLINT", Small(|hit| (noise(hit, 5, 50) == 0).into())),
    ("HitColor", "CHAR", Text(|hit| if noise(hit, 6, 5) == 0 { "5" } else { "D" })),
    (
        "LocalEventTime",
        "TIMESTAMP",
        Time(|hit| (hit.second + i64::from(hit.visitor.time_zone)) * SECOND),
    ),
    ("Age", "SMALLINT", Small(|hit| hit.visitor.age)),
    ("Sex", "SMALLINT", Small(|hit| hit.visitor.sex)),
    ("Income", "SMALLINT", Small(|hit| hit.visitor.income)),
    ("Interests", "SMALLINT", Small(|hit| hit.visitor.interests)),
    ("Robotness", "SMALLINT", Small(|hit| hit.visitor.robotness)),
    ("RemoteIP", "INTEGER", Integer(|hit| hit.visitor.ip ^ i32::from(noise(hit, 7, 2)))),
    ("WindowName", "INTEGER", Integer(|hit| i32::from(noise(hit, 8, 1000)) * 7919)),
    ("OpenerName", "INTEGER", Integer(|hit| i32::from(noise(hit, 9, 100)) * 104_729)),
    ("HistoryLength", "SMALLINT", Small(|hit| noise(hit, 10, 30))),
    ("BrowserLanguage", "TEXT", Text(|hit| hit.visitor.language)),
    ("BrowserCountry", "TEXT", Text(|hit| hit.visitor.country)),
    ("SocialNetwork", "TEXT", Text(|hit| if hit.social { "vkontakte" } else { "" })),
    ("SocialAction", "TEXT", Text(|hit| if hit.social { "like" } else { "" })),
    ("HTTPError", "SMALLINT", Small(|_| 0)),
    ("SendTiming", "INTEGER", Integer(|hit| hit.timings[0])),
    ("DNSTiming", "INTEGER", Integer(|hit| hit.timings[1])),
    ("ConnectTiming", "INTEGER", Integer(|hit| hit.timings[2])),
    ("ResponseStartTiming", "INTEGER", Integer(|hit| hit.timings[3])),
    ("ResponseEndTiming", "INTEGER", Integer(|hit| hit.timings[4])),
    ("FetchTiming", "INTEGER", Integer(|hit| hit.timings[3] / 2)),
    ("SocialSourceNetworkID", "SMALLINT", Small(|hit| i16::from(hit.social) * 4)),
    ("SocialSourcePage", "TEXT", Text(|_| "")),
    ("ParamPrice", "BIGINT", Big(|hit| hit.order.unwrap_or(0))),
    ("ParamOrderID", "TEXT", Text(|hit| if hit.order.is_some() { "order" } else { "" })),
    ("ParamCurrency", "TEXT", Text(|hit| if hit.order.is_some() { "RUB" } else { "" })),
    ("ParamCurrencyID", "SMALLINT", Small(|hit| i16::from(hit.order.is_some()))),
    ("OpenstatServiceName", "TEXT", Text(|hit| advertised(hit, "direct.yandex.ru"))),
    ("OpenstatCampaignID", "TEXT", Text(|_| "")),
    ("OpenstatAdID", "TEXT", Text(|hit| advertised(hit, "1306840"))),
    ("OpenstatSourceID", "TEXT", Text(|_| "")),
    ("UTMSource", "TEXT", Text(|hit| advertised(hit, "yandex"))),
    ("UTMMedium", "TEXT", Text(|hit| advertised(hit, "cpc"))),
    ("UTMCampaign", "TEXT", Text(|hit| advertised(hit, "summer"))),
    ("UTMContent", "TEXT", Text(|_| "")),
    ("UTMTerm", "TEXT", Text(|_| "")),
    ("FromTag", "TEXT", Text(|hit| if hit.tag { "top_menu" } else { "" })),
    ("HasGCLID", "SMALLINT", Small(|_| 0)),
    ("RefererHash", "BIGINT", Big(|hit| hit.came.referer_hash)),
    ("URLHash", "BIGINT", Big(|hit| hit.url_hash)),
    ("CLID", "INTEGER", Integer(|_| 0)),
];

pub(super) fn create_table() -> String {
    let mut text = format!("CREATE TABLE {NAME} (\n");
    for (at, (name, kind, _)) in COLUMNS.iter().enumerate() {
        let end = if at + 1 == COLUMNS.len() { "\n)" } else { ",\n" };
        write!(text, "    {name} {kind} NOT NULL{end}").expect("a string can be written");
    }
    text
}

pub(super) fn schema() -> SchemaRef {
    let fields = COLUMNS.map(|(name, _, column)| Field::new(name, column.data_type(), false));
    Arc::new(Schema::new(fields.to_vec()))
}

/// The columns of some hits.
pub(super) fn batch(schema: SchemaRef, hits: &[Hit]) -> RecordBatch {
    let columns = COLUMNS.iter().map(|(_, _, column)| column.array(hits));
    RecordBatch::try_new(schema, columns.collect()).expect("the schema is that of COLUMNS")
}

impl Column {
    fn data_type(self) -> DataType {
        match self {
            Small(_) => DataType::Int16,
            Integer(_) => DataType::Int32,
            Big(_) => DataType::Int64,
            Date(_) => DataType::Date32,
            Time(_) => DataType::Timestamp(TimeUnit::Microsecond, None),
            Text(_) => DataType::Utf8View,
        }
    }

    fn array(self, hits: &[Hit]) -> ArrayRef {
        let hits = hits.iter();
        match self {
            Small(of) => Arc::new(Int16Array::from_iter_values(hits.map(of))),
            Integer(of) => Arc::new(Int32Array::from_iter_values(hits.map(of))),
            Big(of) => Arc::new(Int64Array::from_iter_values(hits.map(of))),
            Date(of) => Arc::new(Date32Array::from_iter_values(hits.map(of))),
            Time(of) => Arc::new(TimestampMicrosecondArray::from_iter_values(hits.map(of))),
            Text(of) => Arc::new(StringViewArray::from_iter_values(hits.map(of))),
        }
    }
}

fn day(hit: &Hit) -> i32 {
    (hit.second / DAY_SECONDS) as i32
}

/// A number below `bound` for a column that nothing depends on, which takes its own bits.
fn noise(hit: &Hit, place: u32, bound: u64) -> i16 {
    (((hit.noise.rotate_left(5 * place) & 0xFFFF) * bound) >> 16) as i16
}

/// A text of hits that were paid for.
fn advertised(hit: &Hit, text: &'static str) -> &'static str {
    if hit.came.advertisement > 0 { text } else { "" }
}
